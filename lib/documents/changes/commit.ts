import { ApiError } from "../../errors.ts";
import { composeEvents, type EventDeps, type EventDraft } from "../../events/publish.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import { CONFLICT, retryOnConflict } from "../../retry-on-conflict.ts";
import { CHANGE_ROW_WRITES_MAX, withChangeRow } from "./change-log.ts";
import { indexMessages } from "./indexed-changes.ts";

export type CommitDeps = EventDeps & Pick<Ports, "tables">;

/** A change: its writes, its events and its result. */
export interface Change<Result> {
  readonly writes: readonly Write[];
  readonly events: readonly EventDraft[];
  readonly result: Result;
}

/**
 * Commits a change with its events and its change row in one transaction. `plan` reads the current state and returns
 * writes with conditions; if a condition fails it runs again. Throws what `plan` throws, and `conflict` after
 * many attempts.
 */
export async function commitChange<Result>(
  deps: CommitDeps,
  plan: (attempt: number) => Promise<Change<Result>>,
): Promise<Result> {
  const commit = async (attempt: number): Promise<Result | typeof CONFLICT> => {
    const { writes, events, result } = await plan(attempt);
    if (writes.length === 0 && events.length === 0) return result;
    const composed = await composeEvents(deps, events, writes.length + CHANGE_ROW_WRITES_MAX);
    const outcome = await deps.outbox.commit({
      writes: [...withChangeRow(deps, writes), ...composed.writes],
      publish: composed.publish,
      send: indexMessages(writes),
    });
    return outcome.ok ? result : CONFLICT;
  };
  return retryOnConflict(commit, {
    exceeded: () => new ApiError("conflict", "The document is being changed concurrently; try again"),
  });
}
