import { ApiError } from "../../errors.ts";
import { processedEntry, processedWrite } from "../../events/log/process.ts";
import { eventKey, eventLogTable, type Match, type StoredEvent } from "../../events/log/table.ts";
import { eventData } from "../../events/publish.ts";
import { type ConductDeps, logFailedRun } from "../runs/conduct.ts";
import { createStarted, type WithCreation } from "../runs/create-started.ts";
import { runKey, runsTable } from "../runs/table.ts";
import { scheduleKey, schedulesTable } from "../store/trigger-tables.ts";
import { claimKey } from "./dedupe.ts";
import { composeMatchedRun, type MatchedRunDeps, runIdOf, scheduleIdOf } from "./matched-run.ts";
import { countWrite, isCounted, isCountedWithIndex } from "./start-counter.ts";

export type DispatchDeps = MatchedRunDeps & ConductDeps;

/** Matches whose runs are created together where a request takes longer than its work. */
const MATCHES_AT_ONCE = 10;

/**
 * Starts the runs that an event matched when it was recorded, each once even if the event is redelivered, and marks the
 * event as processed. Throws if a run could not be created: the event is redelivered.
 */
export async function dispatchEvent(deps: DispatchDeps, eventId: string): Promise<void> {
  const event = await deps.tables.get(eventLogTable, eventKey(eventId));
  if (event === undefined) return;
  const writes = event.processed ? [] : [processedWrite(eventId, deps.clock.now())];
  const end = { writes, publish: [processedEntry(eventId)] };
  if (!event.processed) {
    const text = await eventData(deps, event);
    const atOnce = deps.tables.partitionLimits === true ? MATCHES_AT_ONCE : 1;
    for (let at = 0; at < event.matches.length; at += atOnce) {
      const some = event.matches.slice(at, at + atOnce);
      const more = some.length === 1 && at + 1 === event.matches.length ? end : NOTHING;
      const outcomes = await Promise.allSettled(
        some.map((match) => startMatch(deps, event, match, text, more)),
      );
      for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
      const [first] = outcomes;
      if (more === end && first?.status === "fulfilled" && first.value) return;
    }
  }
  await deps.outbox.commit(end);
}

const NOTHING: WithCreation = { writes: [], publish: [] };

/** Creates the run of a match. Returns whether `end` was committed with it. */
async function startMatch(
  deps: DispatchDeps,
  event: StoredEvent,
  match: Match,
  text: string,
  end: WithCreation,
): Promise<boolean> {
  const row = await deps.tables.get(schedulesTable, scheduleKey(scheduleIdOf(match)));
  // A schedule created by request no longer fires once it is deleted; a trigger of a file fires as it was when it
  // matched.
  if (match.schedule !== undefined && row === undefined) {
    deps.log.info("the schedule was deleted before its run started", { event: event.event_id, ...match });
    return false;
  }
  const runId = runIdOf(event.event_id, match);
  // A request that fires a trigger creates the run together with the event.
  if (match.type !== undefined && (await deps.tables.get(runsTable, runKey(runId))) !== undefined)
    return false;
  try {
    const composed = await composeMatchedRun(deps, event, match, text, row);
    const { commit, run } = composed;
    const isCountedHere = isCounted(match) && !isCountedWithIndex(event) && row !== undefined;
    const counted = isCountedHere ? [countWrite(row.schedule_id, [event])] : [];
    const claim = await claimKey(deps, match.claim);
    // By an earlier event, or with the run of this one.
    if (claim.taken) return false;
    const claims = claim.write === undefined ? [] : [claim.write];
    const more = { ...end, writes: [...claims, ...counted, ...end.writes] };
    if (await createStarted(deps, composed, more)) return true;
    const claimed = [...commit.writes, ...claims];
    // If the run was already created, the conditions fail and nothing changes.
    let { ok } = await deps.outbox.commit({ ...commit, writes: [...claimed, ...counted] });
    if (!ok && (await deps.tables.get(runsTable, runKey(runId))) === undefined) {
      // The row was deleted meanwhile, or another event claimed a key of this one or of an event that the failed run
      // generates.
      ({ ok } = await deps.outbox.commit({ ...commit, writes: claimed }));
      if (!ok && (await deps.tables.get(runsTable, runKey(runId))) === undefined)
        throw new Error(`recording the run of event ${event.event_id} failed and will be retried`);
    }
    if (ok && run.status === "failed") logFailedRun(deps, run);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    deps.log.error("creating a triggered run failed", {
      event: event.event_id,
      workflow: match.workflow,
      error,
    });
  }
  return false;
}
