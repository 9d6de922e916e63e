import type { Match } from "../../events/log/table.ts";
import { readAll } from "../../events/read-all.ts";
import { canonicalTopic, compileTopicAnySpelling } from "../../events/topic-match.ts";
import type { Ports } from "../../platform/ports.ts";
import type { EventTrigger, Trigger, WatchTrigger } from "../schema/types.ts";
import { allWorkflows } from "./store.ts";
import { catalogCopies, catalogKey, catalogTable, type WorkflowHead } from "./table.ts";
import { CREATED, declaredId, OVERRIDES, type TriggerState, triggerStateTable } from "./trigger-tables.ts";

/** An enabled event trigger, prepared for matching topics. */
export interface ReadyTrigger extends Match {
  readonly scheduleId: string;
  readonly spec: EventTrigger;
  readonly matches: (topic: string) => boolean;
}

/** A trigger of a stored workflow, enabled or not: declared by the workflow, or created by request. */
export interface CatalogTrigger {
  readonly scheduleId: string;
  readonly spec: Trigger;
  readonly enabled: boolean;
  readonly origin: "workflow" | "api";
}

/** The stored workflows and their triggers, at one version of the catalog. */
export interface Catalog {
  readonly heads: readonly WorkflowHead[];
  readonly byName: ReadonlyMap<string, WorkflowHead>;
  /** By workflow name. */
  readonly triggers: ReadonlyMap<string, readonly CatalogTrigger[]>;
  readonly eventTriggers: readonly ReadyTrigger[];
  /** Ids of the schedules created by request, including those of deleted workflows. */
  readonly made: readonly string[];
}

/** Keeps the catalog in memory and reads it again when its version changes. */
export interface CatalogReader {
  current(): Promise<Catalog>;
}

export function catalogReader(deps: Pick<Ports, "tables">): CatalogReader {
  // Any copy, but always the same.
  const key = catalogKey(Math.floor(Math.random() * catalogCopies(deps.tables)));
  let cached: { version: number; catalog: Promise<Catalog> } | undefined;
  return {
    current: async () => {
      const version = (await deps.tables.get(catalogTable, key))?.version ?? 0;
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
    readAll(deps, triggerStateTable, { pk: CREATED }),
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
    // A workflow that uses both spellings of one topic fires once.
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

/** The enabled watch triggers, by schedule id. */
export function enabledWatchTriggers({ triggers }: Catalog): Map<string, WatchTrigger> {
  const wanted = new Map<string, WatchTrigger>();
  for (const { scheduleId, spec, enabled } of [...triggers.values()].flat())
    if (enabled && spec.type === "watch") wanted.set(scheduleId, spec);
  return wanted;
}
