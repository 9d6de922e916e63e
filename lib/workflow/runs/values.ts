import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import { type StoredValue, valueKey, valuesTable } from "./table.ts";

/** A value kept in its item at most, bytes of JSON; beyond it lies in a blob. */
const VALUE_INLINE_BYTES = 32 * 1024;
/** Values kept in one message at most, bytes of JSON: an event of the bus holds no more. */
export const VALUES_INLINE_BYTES = 128 * 1024;
/** Holds the parameters and built-in variables of a run, together. */
export const BASE_VALUES = "#base";

/** A value on its way: its JSON, or the blob that holds it. */
export type KeptValue = { readonly json: string } | { readonly blob: string };

/** Puts a value where it fits: itself, or a blob of its own. The blob's key is unique, so attempts do not mix. */
export async function keepValue(
  deps: Pick<Ports, "blobs" | "ids">,
  runId: string,
  value: unknown,
  inlineBytes = VALUE_INLINE_BYTES,
): Promise<KeptValue> {
  const json = JSON.stringify(value ?? null);
  const limit = Math.min(inlineBytes, VALUE_INLINE_BYTES);
  if (json.length <= limit / 4 || Buffer.byteLength(json) <= limit) return { json };
  const blob = `runs/${runId}/values/${deps.ids.random()}`;
  await deps.blobs.put(blob, json);
  return { blob };
}

export function valueWrite(runId: string, name: string, kept: KeptValue): Write {
  return { op: "put", table: valuesTable, item: { ...valueKey(runId, name), ...kept } };
}

/** Parameters and built-in variables of a run, and which of them are text of the workflow file itself. */
export interface BaseValues {
  readonly values: Readonly<Record<string, unknown>>;
  /** Parameters whose value is the file's own default, with nothing from outside in it. */
  readonly trusted: readonly string[];
}

export interface LoadedValues {
  readonly values: Record<string, unknown>;
  readonly trusted: ReadonlySet<string>;
}

/** The values of a run by name, and all of `base`; unknown names are left out. Later values hide those of `base`. */
export async function loadValues(
  deps: Pick<Ports, "tables" | "blobs">,
  runId: string,
  names: readonly string[],
): Promise<LoadedValues> {
  const wanted = [...new Set([BASE_VALUES, ...names])];
  const items = await deps.tables.batchGet(
    valuesTable,
    wanted.map((name) => valueKey(runId, name)),
  );
  const values: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  let base: BaseValues = { values: {}, trusted: [] };
  for (const item of items) {
    if (item.sk === BASE_VALUES) base = (await readValue(deps, item)) as BaseValues;
    else values[item.sk] = await readValue(deps, item);
  }
  const trusted = new Set(base.trusted.filter((name) => !(name in values)));
  for (const [name, value] of Object.entries(base.values)) {
    if (!(name in values)) values[name] = value;
  }
  return { values, trusted };
}

async function readValue(deps: Pick<Ports, "blobs">, item: StoredValue): Promise<unknown> {
  if (item.json !== undefined) return JSON.parse(item.json);
  const bytes = item.blob === undefined ? undefined : await deps.blobs.get(item.blob);
  return bytes === undefined ? null : JSON.parse(Buffer.from(bytes).toString("utf8"));
}

/** A name under which templates find what a step made: everything but letters, digits and `_` becomes `_`. */
export function variableName(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9_]/g, "_");
}
