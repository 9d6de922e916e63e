import * as z from "zod";
import { ApiError } from "../../errors.ts";
import { findEvent } from "../../events/log/get.ts";
import type { Match, StoredEvent } from "../../events/log/table.ts";
import { EVENT_LOOP_ERROR, type EventDraft, eventData } from "../../events/publish.ts";
import { compileTopicAnySpelling } from "../../events/topic-match.ts";
import type { Listing, PageRequest } from "../../http/page.ts";
import type { Ports } from "../../platform/ports.ts";
import { readPath } from "../expressions/values.ts";
import { onePage } from "../lists/read-list.ts";
import { runKey, runsTable } from "../runs/table.ts";
import type { EventTrigger } from "../schema/types.ts";
import type { Catalog, CatalogReader, CatalogTrigger } from "../store/catalog.ts";
import {
  onceKey,
  type StoredSchedule,
  scheduleKey,
  schedulesTable,
  triggerStateTable,
} from "../store/trigger-tables.ts";
import { eventDedupeKey, hashOf } from "./dedupe.ts";
import { type FailedFilter, FILTERS_MS, findFailedFilter, type ScriptDeps } from "./event-filters.ts";
import { isOwnLifecycle } from "./event-matcher.ts";
import { draftValues, rateNote } from "./fire-triggers.ts";
import { runIdOf, scheduleIdOf } from "./matched-run.ts";
import type { EventValues } from "./trigger-input.ts";

/** Maximum triggers of one response: the filters of each are evaluated. */
export const MATCHES_LIMIT_MAX = 100;
/** Requests of a process that evaluate filters at the same time: script threads primarily serve runs. */
const EXPLANATIONS_AT_ONCE = 4;
/** Maximum values shown with a filter, and characters of each and of the filter. */
const VALUES_MAX = 20;
const VALUE_MAX_LENGTH = 1_000;

const REASONS = [
  "",
  "topic",
  "disabled",
  "own_run",
  "other_spelling",
  "event_loop",
  "rate",
  "filter",
  "deduplication",
  "changed",
  "run_budget",
  "receiver_disabled",
  "unknown",
] as const;
type Reason = (typeof REASONS)[number];

/** Whether an event matched a trigger, and why not. */
export const matchRecord = z
  .object({
    workflow: z.string(),
    trigger: z.string(),
    type: z.string().describe("event; cron, watch, manual or webhook for the trigger that emitted the event"),
    schedule_id: z.string(),
    topic: z.string().describe("Topic of the trigger"),
    matched: z.boolean().describe("As recorded with the event"),
    reason: z.enum(REASONS).describe("Why it did not match; empty if it matched"),
    detail: z.string().describe("The reason in words"),
    filter: z
      .object({
        expression: z.string(),
        error: z.string().describe("Why it could not be evaluated; empty if it evaluated to false"),
        values: z
          .record(z.string(), z.unknown())
          .describe(
            "Values of the event that the filter uses; null for missing ones, long ones as truncated JSON",
          ),
      })
      .nullable()
      .describe("The filter that does not hold, evaluated now"),
    is_enabled: z.boolean().describe("Whether the trigger is enabled now"),
    exists: z.boolean().describe("False if the trigger has been deleted since"),
    changed_since: z
      .boolean()
      .describe(
        "Whether the trigger was created, changed or deleted after the event: the reason is that of now",
      ),
    run: z
      .object({ id: z.int(), run_id: z.string(), status: z.string() })
      .nullable()
      .describe("The run that the match started; null before it is created, and after it was removed"),
  })
  .meta({ id: "EventMatch" });
export type MatchRecord = z.infer<typeof matchRecord>;

export type ExplainDeps = ScriptDeps &
  Pick<Ports, "tables" | "blobs"> & {
    readonly catalog: CatalogReader;
    readonly receiverEnabled: boolean;
  };

let underWay = 0;

/**
 * Returns the triggers that an event matched, then those whose topic fits, then the other event triggers, each group
 * by name. What matched is recorded; the rest is evaluated again, by the functions of the matcher, with the triggers
 * as they are now and with the event's data as stored. Throws `not_found`, `too_many_requests`.
 */
export async function explainMatches(
  deps: ExplainDeps,
  eventId: string,
  { offset, limit }: PageRequest,
): Promise<Listing<MatchRecord>> {
  const event = await findEvent(deps, eventId);
  if (underWay >= EXPLANATIONS_AT_ONCE)
    throw new ApiError("too_many_requests", "Too many events are being evaluated, try again shortly", {
      retryAfterSeconds: 1,
    });
  underWay += 1;
  try {
    const catalog = await deps.catalog.current();
    const candidates = candidatesOf(event, catalog);
    const records = await explainAll(deps, event, candidates.slice(offset, offset + limit));
    return { total: candidates.length, items: onePage(records) };
  } finally {
    underWay -= 1;
  }
}

/** A trigger that the event matched, or might have matched. */
interface Candidate {
  readonly workflow: string;
  readonly scheduleId: string;
  readonly name: string;
  readonly match: Match | undefined;
  /** Undefined if the trigger has been deleted since. */
  readonly trigger: CatalogTrigger | undefined;
  /** What is known without an evaluation. */
  readonly reason: Extract<Reason, "topic" | "disabled" | "own_run" | "other_spelling"> | undefined;
}

/** Position of a candidate's group: matched, might have matched, disabled or excluded, other topics. */
const groupOf = ({ match, reason }: Candidate): number =>
  match !== undefined ? 0 : reason === undefined ? 1 : reason === "topic" ? 3 : 2;

function candidatesOf(event: StoredEvent, catalog: Catalog): Candidate[] {
  const matches = new Map(event.matches.map((match) => [scheduleIdOf(match), match]));
  const ready = new Set(catalog.eventTriggers.map(({ scheduleId }) => scheduleId));
  const found = [...catalog.triggers].flatMap(([workflow, triggers]) =>
    triggers.flatMap((trigger): Candidate[] => {
      const { scheduleId, spec } = trigger;
      const match = matches.get(scheduleId);
      matches.delete(scheduleId);
      if (match === undefined && spec.type !== "event") return [];
      const reason =
        match !== undefined || spec.type !== "event"
          ? undefined
          : reasonWithoutFilters(event, workflow, { ...trigger, spec }, ready);
      return [{ workflow, scheduleId, name: spec.name, match, trigger, reason }];
    }),
  );
  const deleted = [...matches].map(
    ([scheduleId, match]): Candidate => ({
      workflow: match.workflow,
      scheduleId,
      name: match.trigger,
      match,
      trigger: undefined,
      reason: undefined,
    }),
  );
  const nameOf = ({ workflow, name }: Candidate): string => `${workflow}\n${name}`;
  return [...found, ...deleted].sort(
    (one, other) => groupOf(one) - groupOf(other) || (nameOf(one) < nameOf(other) ? -1 : 1),
  );
}

function reasonWithoutFilters(
  event: StoredEvent,
  workflow: string,
  { scheduleId, spec, enabled }: CatalogTrigger & { readonly spec: EventTrigger },
  ready: ReadonlySet<string>,
): Candidate["reason"] {
  if (!compileTopicAnySpelling(spec.topic)(event.topic)) return "topic";
  if (!enabled) return "disabled";
  if (isOwnLifecycle(event, workflow)) return "own_run";
  return ready.has(scheduleId) ? undefined : "other_spelling";
}

async function explainAll(
  deps: ExplainDeps,
  event: StoredEvent,
  candidates: readonly Candidate[],
): Promise<MatchRecord[]> {
  if (candidates.length === 0) return [];
  const [rows, runs] = await Promise.all([
    deps.tables.batchGet(
      schedulesTable,
      candidates.map(({ scheduleId }) => scheduleKey(scheduleId)),
    ),
    deps.tables.batchGet(
      runsTable,
      candidates.flatMap(({ match }) =>
        match === undefined ? [] : [runKey(runIdOf(event.event_id, match))],
      ),
    ),
  ]);
  const rowById = new Map(rows.map((row) => [row.schedule_id, row]));
  const runById = new Map(runs.map((run) => [run.run_id, run]));
  const values = valuesOf(event, await eventData(deps, event));
  const signal = AbortSignal.timeout(FILTERS_MS);
  return Promise.all(
    candidates.map(async (candidate) => {
      const { workflow, name, scheduleId, match, trigger } = candidate;
      const row = rowById.get(scheduleId);
      const changedSince = isChangedSince(event, candidate, row);
      const explained =
        match === undefined
          ? await explain(deps, event, candidate, { values, signal, changedSince })
          : MATCHED;
      const run = match === undefined ? undefined : runById.get(runIdOf(event.event_id, match));
      return {
        workflow,
        trigger: name,
        type: match?.type ?? trigger?.spec.type ?? "event",
        schedule_id: scheduleId,
        topic: trigger?.spec.type === "event" ? trigger.spec.topic : "",
        matched: match !== undefined,
        reason: explained.reason,
        detail: explained.detail,
        filter: explained.filter ?? null,
        is_enabled: trigger?.enabled ?? false,
        exists: trigger !== undefined,
        changed_since: changedSince,
        run: run === undefined ? null : { id: run.number, run_id: run.run_id, status: run.status },
      };
    }),
  );
}

function valuesOf(event: StoredEvent, text: string): EventValues {
  const { matches: _, root_cause: _cause, ...fields } = event;
  return draftValues({ ...fields, data: JSON.parse(text) as EventDraft["data"] });
}

const isChangedSince = (
  event: StoredEvent,
  { trigger }: Candidate,
  row: StoredSchedule | undefined,
): boolean => trigger === undefined || (row !== undefined && row.updated_at > event.created_at);

interface Explanation {
  readonly reason: Reason;
  readonly detail: string;
  readonly filter?: MatchRecord["filter"];
}

const MATCHED: Explanation = { reason: "", detail: "" };

const DETAILS: Readonly<Record<NonNullable<Candidate["reason"]>, string>> = {
  topic: "The topic of the trigger does not match the event's.",
  disabled: "The trigger is disabled.",
  own_run: "Events of a workflow's own runs and steps do not trigger it.",
  other_spelling: "The workflow also has a trigger with the other spelling of this topic, and starts once.",
};

/** Why an event did not match a trigger, in the order in which the matcher decides. */
async function explain(
  deps: ExplainDeps,
  event: StoredEvent,
  { workflow, name, scheduleId, trigger, reason }: Candidate,
  { values, signal, changedSince }: { values: EventValues; signal: AbortSignal; changedSince: boolean },
): Promise<Explanation> {
  if (reason !== undefined) return { reason, detail: DETAILS[reason] };
  if (trigger?.spec.type !== "event") return { reason: "unknown", detail: "" };
  if (event.error.startsWith(EVENT_LOOP_ERROR)) return { reason: "event_loop", detail: event.error };
  const note = rateNote({ trigger: name, workflow });
  const noteAt = event.error.indexOf(note);
  if (noteAt >= 0)
    return { reason: "rate", detail: event.error.slice(noteAt + note.length).split("; ", 1)[0] ?? "" };
  const { open, hidden } = bySecrets(trigger.spec, values);
  const failed = await findFailedFilter(deps, open, values, signal);
  if (failed !== undefined) return explainFilter(failed, values);
  const unclear = await findFailedFilter(deps, hidden, values, signal);
  if (unclear !== undefined)
    return { ...explainFilter(unclear, values), reason: "unknown", detail: SECRET_FILTER };
  const { text, windowMs } = eventDedupeKey(trigger.spec, values);
  if (text !== "") {
    const claim = await deps.tables.get(triggerStateTable, onceKey(scheduleId, hashOf(text)));
    const since = claim?.until === undefined ? undefined : Date.parse(claim.until) - windowMs;
    if (!changedSince || (since !== undefined && since <= Date.parse(event.created_at)))
      return {
        reason: "deduplication",
        detail: `An earlier event within ${trigger.spec.dedupe_window} had the same key: ${shorten(text)}`,
      };
  }
  if (changedSince)
    return {
      reason: "changed",
      detail: "The trigger would match now: it was created or changed after the event.",
    };
  if (event.hop > 0)
    return {
      reason: "run_budget",
      detail: "The root cause of the event has started as many runs as RUNS_PER_ROOT_CAUSE_MAX allows.",
    };
  if (!deps.receiverEnabled)
    return { reason: "receiver_disabled", detail: "The event receiver is disabled: events start nothing." };
  return {
    reason: "unknown",
    detail: "The trigger would match now. Its filters may depend on something that has changed since.",
  };
}

/** What the log has in place of a secret value. */
const REDACTED = "***";
const SECRET_FILTER =
  "This filter uses a secret value. The trigger evaluated the value, which the log does not have: whether the filter was false cannot be told.";

type Filters = Pick<EventTrigger, "filters" | "filter_functions">;

/**
 * The filters that can be evaluated again, and those that may depend on values that the log does not have: they name
 * such a value, or the event as a whole.
 */
function bySecrets(
  { filters, filter_functions = [] }: Filters,
  values: EventValues,
): { open: Filters; hidden: Filters } {
  const usesSecret = (filter: string): boolean => {
    const used = Object.values(valuesUsed(filter, values));
    return JSON.stringify(used.length > 0 ? used : (values.event["data"] ?? null)).includes(REDACTED);
  };
  return {
    open: {
      filters: filters.filter((filter) => !usesSecret(filter)),
      filter_functions: filter_functions.filter((filter) => !usesSecret(filter)),
    },
    hidden: {
      filters: filters.filter(usesSecret),
      filter_functions: filter_functions.filter(usesSecret),
    },
  };
}

function explainFilter({ filter, problem }: FailedFilter, values: EventValues): Explanation {
  return {
    reason: "filter",
    detail: problem === undefined ? "A filter evaluated to false." : "A filter could not be evaluated.",
    filter: { expression: shorten(filter), error: problem ?? "", values: usedValues(filter, values) },
  };
}

const REFERENCE = /\b(event|event_data)((?:\.[A-Za-z_$][\w$-]*|\[\d{1,15}\])+)/g;

/** The values of the event that an expression names, long ones shortened. */
const usedValues = (expression: string, values: EventValues): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(valuesUsed(expression, values)).map(([name, value]) => {
      const json = JSON.stringify(value);
      return [name, json.length > VALUE_MAX_LENGTH ? shorten(json) : value];
    }),
  );

function valuesUsed(expression: string, { event }: EventValues): Record<string, unknown> {
  const used: Record<string, unknown> = {};
  for (const [name, root, path = ""] of expression.matchAll(REFERENCE)) {
    if (Object.keys(used).length >= VALUES_MAX) break;
    const segments = path.split(/[.[\]]/).filter((segment) => segment !== "");
    used[name] = valueAt(root === "event" ? event : event["data"], segments) ?? null;
  }
  return used;
}

const shorten = (text: string): string =>
  text.length > VALUE_MAX_LENGTH ? `${text.slice(0, VALUE_MAX_LENGTH)}…` : text;

/** As in a script: arrays and texts have a length. */
function valueAt(root: unknown, segments: readonly string[]): unknown {
  const found = readPath(root, segments);
  if (found !== undefined || segments.at(-1) !== "length") return found;
  const parent = readPath(root, segments.slice(0, -1));
  return Array.isArray(parent) || typeof parent === "string" ? parent.length : undefined;
}
