import type { Ports } from "../../platform/ports.ts";

/** The last work of each run that is in progress or waiting, by the tables that the runs are in. */
const lastWork = new WeakMap<Ports["tables"], Map<string, Promise<unknown>>>();

/**
 * Does work on a run after the earlier work of this process on it has ended, so that its steps, which may end at the
 * same time, do not conflict with each other.
 */
export function inTurnOfRun<Result>(
  { tables }: Pick<Ports, "tables">,
  runId: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const byRun = lastWork.get(tables) ?? new Map<string, Promise<unknown>>();
  lastWork.set(tables, byRun);
  const previous = byRun.get(runId);
  const result = previous === undefined ? work() : previous.then(work, work);
  byRun.set(runId, result);
  const forget = (): void => {
    if (byRun.get(runId) === result) byRun.delete(runId);
  };
  result.then(forget, forget);
  return result;
}
