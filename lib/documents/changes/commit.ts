import { setTimeout as sleep } from "node:timers/promises";
import { ApiError } from "../../errors.ts";
import { composeEvents, type EventDeps, type EventDraft } from "../../events/publish.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import { withChangeRow } from "./change-log.ts";

export type CommitDeps = EventDeps & Pick<Ports, "tables">;

/** What a change comes to: its writes, what it tells of, and what its caller is answered. */
export interface Change<Result> {
  readonly writes: readonly Write[];
  readonly events: readonly EventDraft[];
  readonly result: Result;
}

/** Attempts at one change: others may change what it leans on meanwhile. */
const TRIES_MAX = 30;
/** Before another attempt at most, as many times as there were some, milliseconds. */
const PAUSE_MS = 4;

/**
 * Makes a change and tells of it, lists among others, in one transaction. `plan` reads what it leans on and has it as conditions of its
 * writes; where they do not hold it is asked again. Throws what `plan` throws, and `conflict` after many lost turns.
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
  throw new ApiError("conflict", "The document is being changed by others, try again");
}
