import { ApiError } from "../../errors.ts";
import { processedEntry, processedWrite } from "../../events/log/process.ts";
import { eventKey, eventLogTable, type Match, type StoredEvent } from "../../events/log/table.ts";
import { eventData } from "../../events/publish.ts";
import { derivedId } from "../../platform/ids.ts";
import type { Ports } from "../../platform/ports.ts";
import { logFailedRun } from "../runs/conduct.ts";
import { type CreateDeps, composeRun } from "../runs/create.ts";
import type { TriggerType } from "../runs/table.ts";
import { inputParams } from "./input.ts";

export type DispatchDeps = CreateDeps & Pick<Ports, "outbox">;

/**
 * Starts the runs that an event matched when it was recorded, each once however often the event comes, and
 * marks its record as processed. Throws where a run could not be made: the event comes again.
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
  const definition = await deps.definitions.get(match.workflow, match.revision);
  const trigger = definition.triggers.find(({ name }) => name === match.trigger);
  const envelope = eventValues(event, text);
  const params = inputParams(trigger?.input ?? {}, envelope.event);
  try {
    const { commit, run } = await composeRun(deps, {
      runId: derivedId("run", event.event_id, match.workflow, match.trigger),
      workflow: match.workflow,
      revision: match.revision,
      target: params["target"] ?? params["Target"] ?? "",
      params,
      triggerType: (trigger?.type ?? "event") as TriggerType,
      triggerName: match.trigger,
      eventId: event.event_id,
      hop: event.hop,
      values: envelope,
      ...(event.workspace === "" ? {} : { workspace: event.workspace }),
    });
    // Where the run is there already, the conditions do not hold and nothing happens: it was started before.
    const { ok } = await deps.outbox.commit(commit);
    if (ok && run.status === "failed") logFailedRun(deps, run);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    deps.log.error("triggered run could not be made", {
      event: event.event_id,
      workflow: match.workflow,
      error,
    });
  }
}

interface EventValues extends Readonly<Record<string, unknown>> {
  readonly event: Readonly<Record<string, unknown>>;
}

/** What templates of a triggered run may name of its event. Reference 2.9, 4. */
function eventValues(event: StoredEvent, text: string): EventValues {
  const data: unknown = JSON.parse(text);
  const seen = {
    topic: event.topic,
    id: event.event_id,
    name: event.name,
    source: event.source,
    data,
    data_type: event.data_type,
    workspace: event.workspace,
    run_uuid: event.run_id,
    run_id: event.run_id,
    workflow_name: event.workflow_name,
    timestamp: event.created_at,
  };
  return {
    event: seen,
    event_data: data,
    EventTopic: event.topic,
    EventSource: event.source,
    EventDataType: event.data_type,
    EventTimestamp: event.created_at,
    EventData: text,
    EventEnvelope: JSON.stringify({ ...seen, data_raw: text }),
  };
}
