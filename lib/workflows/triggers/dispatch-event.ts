import { ApiError } from "../../errors.ts";
import { processedEntry, processedWrite } from "../../events/log/process.ts";
import { eventKey, eventLogTable, type Match, type StoredEvent } from "../../events/log/table.ts";
import { eventData } from "../../events/publish.ts";
import type { Ports } from "../../platform/ports.ts";
import { logFailedRun } from "../runs/conduct.ts";
import { runKey, runsTable } from "../runs/table.ts";
import { scheduleKey, schedulesTable } from "../store/trigger-tables.ts";
import { composeMatchedRun, type MatchedRunDeps, runIdOf, scheduleIdOf } from "./matched-run.ts";
import { countWrite, isCounted, isCountedWithIndex } from "./start-counter.ts";

export type DispatchDeps = MatchedRunDeps & Pick<Ports, "outbox">;

/**
 * Starts the runs that an event matched when it was recorded, each once even if the event is redelivered, and marks the
 * event as processed. Throws if a run could not be created: the event is redelivered.
 */
export async function dispatchEvent(deps: DispatchDeps, eventId: string): Promise<void> {
  const event = await deps.tables.get(eventLogTable, eventKey(eventId));
  if (event === undefined) return;
  if (!event.processed) {
    const text = await eventData(deps, event);
    for (const match of event.matches) await startMatch(deps, event, match, text);
  }
  const writes = event.processed ? [] : [processedWrite(eventId, deps.clock.now())];
  await deps.outbox.commit({ writes, publish: [processedEntry(eventId)] });
}

async function startMatch(deps: DispatchDeps, event: StoredEvent, match: Match, text: string): Promise<void> {
  const row = await deps.tables.get(schedulesTable, scheduleKey(scheduleIdOf(match)));
  // A schedule created by request no longer fires once it is deleted; a trigger of a file fires as it was when it
  // matched.
  if (match.schedule !== undefined && row === undefined) {
    deps.log.info("the schedule was deleted before its run started", { event: event.event_id, ...match });
    return;
  }
  const runId = runIdOf(event.event_id, match);
  try {
    const { commit, run } = await composeMatchedRun(deps, event, match, text, row);
    const isCountedHere = isCounted(match) && !isCountedWithIndex(event) && row !== undefined;
    const counted = isCountedHere ? [countWrite(row.schedule_id, [event])] : [];
    // If the run was already created, the conditions fail and nothing changes.
    let { ok } = await deps.outbox.commit({ ...commit, writes: [...commit.writes, ...counted] });
    if (!ok && (await deps.tables.get(runsTable, runKey(runId))) === undefined) {
      // The row was deleted meanwhile, or another event claimed a key of an event that the failed run generates.
      ({ ok } = await deps.outbox.commit(commit));
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
}
