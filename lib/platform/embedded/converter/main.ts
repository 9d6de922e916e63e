import { serveTasks } from "./serve-tasks.ts";

/** The conversion process. */
await serveTasks(async () => (await import("../../../conversion/convert.ts")).convert);
