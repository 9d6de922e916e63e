import { ApiError } from "../../errors.ts";
import { processedEntry, processedWrite } from "../../events/log/process.ts";
import { eventKey, eventLogTable, type Match, type StoredEvent } from "../../events/log/table.ts";
import { eventData } from "../../events/publish.ts";
import { derivedId } from "../../platform/ids.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import type { Trigger } from "../definition/types.ts";
import { logFailedRun } from "../runs/conduct.ts";
import { type CreateDeps, composeRun } from "../runs/create.ts";
import { runKey, runsTable, type TriggerType } from "../runs/table.ts";
import { declaredId, type StoredSchedule, scheduleKey, schedulesTable } from "../schedules/table.ts";
import { inputEvaluator } from "./conditions.ts";
import { type EventValues, inputParams } from "./input.ts";

export type DispatchDeps = CreateDeps & Pick<Ports, "outbox" | "scripts">;

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
  const row = await deps.tables.get(schedulesTable, scheduleKey(scheduleIdOf(match)));
  // What was made by request is gone at once when it is deleted; what a file declares is what the event matched.
  if (match.schedule !== undefined && row === undefined) {
    deps.log.info("schedule was deleted before its run began", { event: event.event_id, ...match });
    return;
  }
  const trigger = match.schedule === undefined ? await declaredTrigger(deps, match) : row?.spec;
  const values = eventValues(event, text);
  const params = await runParams(deps, event, trigger, row, values);
  const runId = derivedId("run", event.event_id, match.workflow, match.schedule ?? match.trigger);
  try {
    const { commit, run } = await composeRun(deps, {
      runId,
      workflow: match.workflow,
      revision: match.revision,
      target: params["target"] ?? params["Target"] ?? "",
      params,
      triggerType: match.type ?? typeOf(trigger),
      triggerName: match.trigger,
      eventId: event.event_id,
      hop: event.hop,
      values,
      ...workspaceFrom(row, event),
    });
    const counted = match.type === undefined && row !== undefined ? [countWrite(row, event)] : [];
    // Where the run is there already, the conditions do not hold and nothing happens: it was started before.
    let { ok } = await deps.outbox.commit({ ...commit, writes: [...commit.writes, ...counted] });
    if (!ok && (await deps.tables.get(runsTable, runKey(runId))) === undefined) {
      // Its row was deleted meanwhile, or another event took what a run that failed at once was to trigger.
      ({ ok } = await deps.outbox.commit(commit));
      if (!ok && (await deps.tables.get(runsTable, runKey(runId))) === undefined)
        throw new Error(`the run of event ${event.event_id} could not be recorded, it is tried again`);
    }
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

const scheduleIdOf = (match: Match): string => match.schedule ?? declaredId(match.workflow, match.trigger);

async function declaredTrigger(deps: DispatchDeps, match: Match): Promise<Trigger | undefined> {
  const definition = await deps.definitions.get(match.workflow, match.revision);
  return definition.triggers.find(({ name }) => name === match.trigger);
}

function typeOf(trigger: Trigger | undefined): TriggerType {
  return trigger?.type ?? "event";
}

/** The schedule's own parameters and target, before them what the trigger takes from the event. */
async function runParams(
  deps: DispatchDeps,
  event: StoredEvent,
  trigger: Trigger | undefined,
  row: StoredSchedule | undefined,
  values: EventValues,
): Promise<Record<string, string>> {
  const given = await inputParams(trigger?.input ?? {}, values, inputEvaluator(deps), (name, error) =>
    deps.log.warn("input of a trigger could not be had", {
      event: event.event_id,
      trigger: trigger?.name,
      name,
      error,
    }),
  );
  const { path } = values.event["data"] as { readonly path?: unknown };
  return {
    ...(trigger?.type === "watch" && typeof path === "string" ? { target: path } : {}),
    ...row?.params,
    ...(row === undefined || row.target === "" ? {} : { target: row.target }),
    ...(given["Target"] === undefined ? {} : { target: given["Target"] }),
    ...given,
  };
}

function workspaceFrom(row: StoredSchedule | undefined, event: StoredEvent): { workspace?: string } {
  const workspace = row?.workspace || event.workspace;
  return workspace === "" ? {} : { workspace };
}

/** Counted with the run, so however often the event comes. */
function countWrite(row: StoredSchedule, event: StoredEvent): Write {
  return {
    op: "update",
    table: schedulesTable,
    key: scheduleKey(row.schedule_id),
    change: { set: { last_run: event.created_at }, add: { run_count: 1 } },
    when: [["pk", "exists"]],
  };
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
