import type { Match, StoredEvent } from "../../events/log/table.ts";
import { derivedId } from "../../platform/ids.ts";
import type { Ports } from "../../platform/ports.ts";
import { type ComposedRun, type CreateDeps, composeRun } from "../runs/create.ts";
import type { TriggerType } from "../runs/table.ts";
import type { Trigger } from "../schema/types.ts";
import { declaredId, type StoredSchedule } from "../store/trigger-tables.ts";
import { inputEvaluator } from "./event-filters.ts";
import { type EventValues, inputParams } from "./trigger-input.ts";

const DOCUMENT_ID_MAX_LENGTH = 128;

export type MatchedRunDeps = CreateDeps & Pick<Ports, "scripts">;

/** Composes the commit that starts the run of one match of an event; `text` is the event's data. */
export async function composeMatchedRun(
  deps: MatchedRunDeps,
  event: StoredEvent,
  match: Match,
  text: string,
  row: StoredSchedule | undefined,
): Promise<ComposedRun> {
  const trigger = match.schedule === undefined ? await declaredTrigger(deps, match) : row?.spec;
  const values = eventValues(event, text);
  const params = await runParams(deps, event, trigger, row, values);
  return composeRun(deps, {
    runId: runIdOf(event.event_id, match),
    workflow: match.workflow,
    revision: match.revision,
    target: params["target"] ?? "",
    params,
    triggerType: match.type ?? typeOf(trigger),
    triggerName: match.trigger,
    eventId: event.event_id,
    hop: event.hop,
    rootCause: event.root_cause ?? event.event_id,
    values,
    ...(event.run_id === "" ? {} : { parent: event.run_id }),
    ...documentOf(event, values),
    ...workspaceFrom(row, event),
  });
}

/** The document that an event of the document service is about. */
function documentOf({ topic, source }: StoredEvent, { event }: EventValues): { document?: string } {
  if (source !== "documents" || !topic.startsWith("documents.")) return {};
  const { document_id } = (event["data"] ?? {}) as { readonly document_id?: unknown };
  return typeof document_id === "string" && document_id.length <= DOCUMENT_ID_MAX_LENGTH
    ? { document: document_id }
    : {};
}

/** The id of the run: derived from the event and the match, so it is stable across redeliveries. */
export const runIdOf = (eventId: string, match: Match): string =>
  derivedId("run", eventId, match.workflow, match.schedule ?? match.trigger);

export const scheduleIdOf = (match: Match): string =>
  match.schedule ?? declaredId(match.workflow, match.trigger);

/** A revision that cannot be read is a platform fault: the event is redelivered, and finally given up. */
async function declaredTrigger(
  deps: MatchedRunDeps,
  { workflow, revision, trigger }: Match,
): Promise<Trigger | undefined> {
  const definition = await deps.definitions.get(workflow, revision).catch((cause: unknown) => {
    throw new Error(cause instanceof Error ? cause.message : String(cause), { cause });
  });
  return definition.triggers.find(({ name }) => name === trigger);
}

function typeOf(trigger: Trigger | undefined): TriggerType {
  return trigger?.type ?? "event";
}

/**
 * Returns the parameters and target of the run: the schedule's own, overridden by the trigger's inputs from the event.
 */
async function runParams(
  deps: MatchedRunDeps,
  event: StoredEvent,
  trigger: Trigger | undefined,
  row: StoredSchedule | undefined,
  values: EventValues,
): Promise<Record<string, string>> {
  const given = await inputParams(trigger?.input ?? {}, values, inputEvaluator(deps), (name, error) =>
    deps.log.warn("evaluating the input of a trigger failed", {
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

/** Returns the event's values for templates of the triggered run. Reference 2.9, 4. */
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
