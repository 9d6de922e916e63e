import { setTimeout as sleep } from "node:timers/promises";
import { ApiError } from "../../errors.ts";
import { composeEvents, type EventDeps, type EventDraft } from "../../events/publish.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import { withChangeRow } from "./change-log.ts";

export type CommitDeps = EventDeps & Pick<Ports, "tables">;

/** A change: its writes, its events and its result. */
export interface Change<Result> {
  readonly writes: readonly Write[];
  readonly events: readonly EventDraft[];
  readonly result: Result;
}

/** Attempts per change, since concurrent changes may fail its conditions. */
const TRIES_MAX = 30;
/** Maximum pause before a retry, times the number of attempts, milliseconds. */
const PAUSE_MS = 4;

/**
 * Commits a change with its events and its change row in one transaction. `plan` reads the current state and returns
 * writes with conditions; if a condition fails it runs again. Throws what `plan` throws, and `conflict` after 30
 * attempts.
 */
export async function commitChange<Result>(
  deps: CommitDeps,
  plan: (attempt: number) => Promise<Change<Result>>,
): Promise<Result> {
  for (let attempt = 0; attempt < TRIES_MAX; attempt += 1) {
    if (attempt > 0) await sleep(Math.random() * attempt * PAUSE_MS);
    const { writes, events, result } = await plan(attempt);
    if (writes.length === 0 && events.length === 0) return result;
    const composed = await composeEvents(deps, events);
    const outcome = await deps.outbox.commit({
      writes: [...withChangeRow(deps, writes), ...composed.writes],
      publish: composed.publish,
    });
    if (outcome.ok) return result;
  }
  throw new ApiError("conflict", "The document is being changed concurrently; try again");
}
