import { ContentError } from "../../../conversion/content-error.ts";
import { endWithParent } from "./end-with-parent.ts";
import { lowerPriority } from "./lower-priority.ts";
import { BACKGROUND, type FromTaskProcess, type ToTaskProcess } from "./protocol.ts";

/** Serves tasks in this process, which ends when the server ends or disconnects. `load` imports what the tasks need. */
export async function serveTasks<Task, Value>(
  load: () => Promise<(task: Task) => Promise<Value>>,
): Promise<void> {
  process.on("disconnect", () => process.exit(0));
  if (process.argv.includes(BACKGROUND)) lowerPriority();
  endWithParent();
  const send = (message: FromTaskProcess<Value>): void => {
    process.send?.(message);
  };
  const run = await load();
  process.on("message", async ({ id, task }: ToTaskProcess<Task>) => {
    try {
      send({ kind: "done", id, value: await run(task) });
    } catch (error) {
      const message = error instanceof ContentError ? error.message : undefined;
      send({ kind: "refused", id, why: String(error).slice(0, 500), message });
    }
  });
  send({ kind: "ready" });
}
