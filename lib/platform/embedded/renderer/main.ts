import { serveTasks } from "../task-process/serve-tasks.ts";

/** The process that writes documents as files. */
await serveTasks(async () => (await import("../../../export/render.ts")).render);
