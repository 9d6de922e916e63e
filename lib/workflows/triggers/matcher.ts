import type { Match } from "../../events/log/table.ts";
import type { EventDraft, Matched, Matcher } from "../../events/publish.ts";
import { readAll } from "../../events/read-all.ts";
import { canonicalTopic, compileTopicAnySpelling } from "../../events/topic-match.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import { declaredId, MADE, OVERRIDES, type TriggerState, triggerStateTable } from "../schedules/table.ts";
import type { EventTrigger, Trigger } from "../schema/types.ts";
import { allWorkflows } from "../store/store.ts";
import { CATALOG_KEY, catalogTable, type WorkflowHead } from "../store/table.ts";
import type { RateBreaker } from "./breaker.ts";
import { FILTERS_MS, passesFilters, type ScriptDeps } from "./conditions.ts";
import { claimKey } from "./dedupe.ts";
import type { EventValues } from "./input.ts";
import type { RunBudget } from "./run-budget.ts";

/** An event trigger in use, ready to be tested against topics. */
interface ReadyTrigger extends Match {
  readonly scheduleId: string;
  readonly spec: EventTrigger;
  readonly matches: (topic: string) => boolean;
}

/** A trigger in use, switched on or off: declared by its workflow, or made by request. */
export interface CatalogTrigger {
  readonly scheduleId: string;
  readonly spec: Trigger;
  readonly enabled: boolean;
  readonly origin: "workflow" | "api";
}

/** The workflows in use and their triggers, as of one version of the catalog. */
export interface Catalog {
  readonly heads: readonly WorkflowHead[];
  readonly byName: ReadonlyMap<string, WorkflowHead>;
  /** By the workflow's name. */
  readonly triggers: ReadonlyMap<string, readonly CatalogTrigger[]>;
  readonly eventTriggers: readonly ReadyTrigger[];
  /** Ids of the schedules made by request, those of workflows that are gone too. */
  readonly made: readonly string[];
}

/** Keeps the catalog in memory and reads it anew when its version has moved. */
export interface CatalogReader {
  current(): Promise<Catalog>;
}

export function catalogReader(deps: Pick<Ports, "tables">): CatalogReader {
  let cached: { version: number; catalog: Promise<Catalog> } | undefined;
  return {
    current: async () => {
      const version = (await deps.tables.get(catalogTable, CATALOG_KEY))?.version ?? 0;
      if (cached?.version !== version) {
        const catalog = readCatalog(deps);
        cached = { version, catalog };
        catalog.catch(() => {
          cached = undefined;
        });
      }
      return cached.catalog;
    },
  };
}

async function readCatalog(deps: Pick<Ports, "tables">): Promise<Catalog> {
  const [heads, overrides, made] = await Promise.all([
    allWorkflows(deps),
    readAll(deps, triggerStateTable, { pk: OVERRIDES }),
    readAll(deps, triggerStateTable, { pk: MADE }),
  ]);
  const overridden = new Map(overrides.map((override) => [override.sk, override]));
  const madeFor = new Map<string, CatalogTrigger[]>();
  for (const { sk, workflow = "", spec, enabled = false } of made) {
    if (spec === undefined) continue;
    const trigger: CatalogTrigger = { scheduleId: sk, spec, enabled, origin: "api" };
    madeFor.set(workflow, [...(madeFor.get(workflow) ?? []), trigger]);
  }
  const triggers = new Map(
    heads.map((head) => [
      head.name,
      [...declaredTriggers(head, overridden), ...(madeFor.get(head.name) ?? [])],
    ]),
  );
  const eventTriggers = heads.flatMap((head) => readyTriggers(head, triggers.get(head.name) ?? []));
  const byName = new Map(heads.map((head) => [head.name, head]));
  return { heads, byName, triggers, eventTriggers, made: made.map(({ sk }) => sk) };
}

function declaredTriggers(
  head: WorkflowHead,
  overridden: ReadonlyMap<string, TriggerState>,
): CatalogTrigger[] {
  return head.triggers.flatMap((spec) => {
    const scheduleId = declaredId(head.name, spec.name);
    const override = overridden.get(scheduleId);
    if (override?.deleted === true) return [];
    return [{ scheduleId, spec, enabled: override?.enabled ?? spec.enabled, origin: "workflow" }];
  });
}

function readyTriggers(head: WorkflowHead, triggers: readonly CatalogTrigger[]): ReadyTrigger[] {
  const topicOf = new Map<string, string>();
  return triggers.flatMap(({ scheduleId, spec, enabled, origin }) => {
    if (spec.type !== "event" || !enabled) return [];
    if (origin === "api") return [{ ...ready(head, spec, scheduleId), schedule: scheduleId }];
    const canonical = canonicalTopic(spec.topic);
    // A workflow that names both spellings of one topic fires once.
    if ((topicOf.get(canonical) ?? spec.topic) !== spec.topic) return [];
    topicOf.set(canonical, spec.topic);
    return [ready(head, spec, scheduleId)];
  });
}

function ready(head: WorkflowHead, spec: EventTrigger, scheduleId: string): ReadyTrigger {
  const { name, revision } = head;
  const matches = compileTopicAnySpelling(spec.topic);
  return { workflow: name, trigger: spec.name, revision, scheduleId, spec, matches };
}

export type MatcherDeps = ScriptDeps & Pick<Ports, "tables" | "clock" | "log">;

const NOTHING: Matched = { matches: [], notes: [], writes: [] };

/**
 * Matches events against the triggers of the workflows in use: by topic (exactly, by glob, in either spelling), then
 * by filters, then by the key that may fire once in a while.
 */
export function triggerMatcher(
  deps: MatcherDeps,
  catalog: CatalogReader,
  breaker: RateBreaker,
  { enabled, budget }: { readonly enabled: boolean; readonly budget: RunBudget },
): Matcher {
  const { admit } = budget;
  if (!enabled) return { match: async () => NOTHING, admit };
  return {
    admit,
    match: async (event, earlier) => {
      const { eventTriggers } = await catalog.current();
      if (eventTriggers.length === 0) return NOTHING;
      const fitting = eventTriggers.filter(
        (trigger) => trigger.matches(event.topic) && !isOwnLifecycle(event, trigger.workflow),
      );
      return fitting.length === 0 ? NOTHING : fired(deps, breaker, event, fitting, earlier);
    },
  };
}

async function fired(
  deps: MatcherDeps,
  breaker: RateBreaker,
  event: EventDraft,
  fitting: readonly ReadyTrigger[],
  earlier: readonly Write[],
): Promise<Matched> {
  const values = draftValues(event);
  const notes: string[] = [];
  const writes: Write[] = [];
  const matches: Match[] = [];
  const passed = await filtered(deps, fitting, values, notes);
  for (const { scheduleId, spec, matches: _, ...match } of passed) {
    const claim = await claimKey(deps, scheduleId, spec, values, [...earlier, ...writes]);
    if (claim.taken) continue;
    if (!(await breaker.take(scheduleId))) {
      notes.push(`trigger ${match.trigger} of ${match.workflow} not fired: ${breaker.reason}`);
      continue;
    }
    if (claim.write !== undefined) writes.push(claim.write);
    matches.push(match);
  }
  return { matches, notes, writes };
}

async function filtered(
  deps: MatcherDeps,
  fitting: readonly ReadyTrigger[],
  values: EventValues,
  notes: string[],
): Promise<ReadyTrigger[]> {
  const isFiltered = ({ spec }: ReadyTrigger): boolean =>
    spec.filters.length + (spec.filter_functions?.length ?? 0) > 0;
  if (!fitting.some(isFiltered)) return [...fitting];
  const signal = AbortSignal.timeout(FILTERS_MS);
  const passes = await Promise.all(
    fitting.map((trigger) => {
      if (!isFiltered(trigger)) return true;
      return passesFilters(deps, trigger.spec, values, signal, (problem) => {
        notes.push(`trigger ${trigger.trigger} of ${trigger.workflow}: ${problem}`);
        deps.log.warn("filter failed", { schedule: trigger.scheduleId, problem });
      });
    }),
  );
  return fitting.filter((_, index) => passes[index]);
}

/** What filters and keys may name of an event; it has its id once it is recorded. */
function draftValues({ topic, name, source, data_type, data, ...more }: EventDraft): EventValues {
  const event = {
    ...{ topic, name: name ?? topic, source, data_type: data_type ?? "", data, id: "" },
    workspace: more.workspace ?? "",
    run_id: more.run_id ?? "",
    run_uuid: more.run_id ?? "",
    workflow_name: more.workflow_name ?? "",
  };
  return { event, event_data: data };
}

const LIFECYCLE = /^(?:run|step)\./;

/** The `run.*` and `step.*` events of a workflow's own runs do not start it again: a glob would never end. */
function isOwnLifecycle(event: EventDraft, workflow: string): boolean {
  return (event.hop ?? 0) > 0 && event.workflow_name === workflow && LIFECYCLE.test(event.topic);
}
