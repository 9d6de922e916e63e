import type { Deps } from "../app/compose.ts";
import { type EventFilters, type EventRecord, listEvents } from "../events/log/list.ts";
import type { OrderedPageRequest } from "../http/page.ts";
import { listRuns, type RunRecord } from "../workflows/runs/read.ts";
import { parseDefinition } from "../workflows/schema/parse.ts";
import { type SaveResult, saveWorkflow } from "../workflows/store/store.ts";
import {
  BASE_VALUES,
  type BaseValues,
  loadValueRefs,
  openValue,
  openValues,
} from "../workflows/values/stored-values.ts";
import { valueKey, valuesTable } from "../workflows/values/table.ts";

const EVERYTHING = { offset: 0, limit: 10_000 };

/** Stores a workflow from YAML, as a request does. Throws if it does not parse. */
export async function storeWorkflow(deps: Deps, yaml: string): Promise<SaveResult> {
  const parsed = parseDefinition(yaml);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.errors));
  return saveWorkflow(deps, { definition: parsed.definition, yaml, source: "api" });
}

/** A module of bash steps that an event of the topic triggers. */
export function onTopic(name: string, topic: string, steps: readonly string[] = ["only"]): string {
  const lines = steps.map((step) => `  - {name: ${step}, type: bash, command: "echo ${step}"}`);
  return `name: ${name}\ntriggers:\n  - {name: heard, type: event, topic: "${topic}"}\nsteps:\n${lines.join("\n")}\n`;
}

/** The event log, newest first unless the page says otherwise. */
export async function readLog(
  deps: Deps,
  filters: EventFilters = {},
  page: OrderedPageRequest = EVERYTHING,
): Promise<{ total: number; records: EventRecord[] }> {
  const { total, items } = await listEvents(deps, filters, page);
  return { total, records: await collectPages(items) };
}

/** All runs, newest first. */
export async function readRuns(deps: Deps): Promise<RunRecord[]> {
  const { items } = await listRuns(deps, {}, EVERYTHING);
  return await collectPages(items);
}

/** All items of a sequence of pages. */
export async function collectPages<Item>(pages: AsyncIterable<readonly Item[]>): Promise<Item[]> {
  const items: Item[] = [];
  for await (const page of pages) items.push(...page);
  return items;
}

/** The initial values of a run and the named ones, decoded, as an executor receives them. */
export async function runValues(deps: Deps, runId: string, names: readonly string[] = []) {
  const item = await deps.tables.get(valuesTable, valueKey(runId, BASE_VALUES));
  const kept = item?.blob === undefined ? { json: item?.json ?? "null" } : { blob: item.blob };
  const base = (await openValue(deps, kept)) as BaseValues | null;
  const { kept: values, ...loaded } = await loadValueRefs(
    deps,
    runId,
    [...Object.keys(base?.values ?? {}), ...names],
    {},
  );
  return openValues(deps, { ...loaded, values });
}
