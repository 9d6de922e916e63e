import { serveTasks } from "../task-process/serve-tasks.ts";

/** The conversion process. */
await serveTasks(async () => (await import("../../../conversion/convert.ts")).convert);
