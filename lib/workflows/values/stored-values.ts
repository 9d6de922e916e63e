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
export type StoredValueRef = { readonly json: string } | { readonly blob: string };

/** Puts a value where it fits: itself, or a blob of its own. The blob's key is unique, so attempts do not mix. */
export async function storeValue(
  deps: Pick<Ports, "blobs" | "ids">,
  runId: string,
  value: unknown,
  inlineBytes = VALUE_INLINE_BYTES,
): Promise<StoredValueRef> {
  const json = JSON.stringify(value ?? null);
  const limit = Math.min(inlineBytes, VALUE_INLINE_BYTES);
  if (json.length <= limit / 4 || Buffer.byteLength(json) <= limit) return { json };
  const blob = `runs/${runId}/values/${deps.ids.random()}`;
  await deps.blobs.put(blob, json);
  return { blob };
}

export function valueWrite(runId: string, name: string, kept: StoredValueRef): Write {
  return { op: "put", table: valuesTable, item: { ...valueKey(runId, name), ...kept } };
}

/** Parameters and built-in variables of a run, and which of them are text of the workflow file itself. */
export interface BaseValues {
  readonly values: Readonly<Record<string, unknown>>;
  /** Parameters whose value is the file's own default, with nothing from outside in it. */
  readonly trusted: readonly string[];
  /** Parameters that were given; the others have their defaults. Absent in runs of earlier versions. */
  readonly given?: readonly string[];
}

/** Values as they are kept, on their way to an executor. */
export interface LoadedValues {
  readonly kept: Readonly<Record<string, StoredValueRef>>;
  /**
   * Parameters and built-in variables, where some lie in a blob: whoever opens the values looks there too. What an
   * earlier one holds hides what a later one does.
   */
  readonly bases?: readonly StoredValueRef[];
  readonly trusted: readonly string[];
}

/** Where a module of a flow keeps its own parameters: they go before those of the run. */
export const moduleBase = (module: string): string => `${module}/${BASE_VALUES}`;

/**
 * The values of a run by name, without opening those that lie in blobs; unknown names are left out. Values
 * hide parameters and built-in variables; `fresh` hides both. `module` is given for steps of a flow.
 */
export async function loadValueRefs(
  deps: Pick<Ports, "tables">,
  runId: string,
  names: readonly string[],
  fresh: Readonly<Record<string, StoredValueRef>>,
  module?: string,
): Promise<LoadedValues> {
  const kept: Record<string, StoredValueRef> = Object.create(null) as Record<string, StoredValueRef>;
  const wanted = new Set(names);
  if (wanted.size === 0) return { kept, trusted: [] };
  const bases = [...(module === undefined ? [] : [moduleBase(module)]), BASE_VALUES];
  const items = await deps.tables.batchGet(
    valuesTable,
    [...bases, ...wanted].map((name) => valueKey(runId, name)),
  );
  const found = new Map(items.map((item) => [item.sk, keptOf(item)]));
  for (const [name, value] of Object.entries(fresh)) found.set(name, value);
  for (const name of wanted) {
    const value = found.get(name);
    if (value !== undefined) kept[name] = value;
  }
  const held = bases.flatMap((name) => found.get(name) ?? []);
  if (held.some((base) => "blob" in base)) return { kept, bases: held, trusted: [] };
  const trusted: string[] = [];
  for (const base of held) {
    const own = JSON.parse("json" in base ? base.json : EMPTY_BASE) as BaseValues;
    trusted.push(...own.trusted.filter((name) => wanted.has(name) && !(name in kept)));
    for (const name of wanted) {
      if (!(name in kept) && Object.hasOwn(own.values, name))
        kept[name] = { json: JSON.stringify(own.values[name]) };
    }
  }
  return { kept, trusted };
}

const keptOf = ({ json = "null", blob }: StoredValue): StoredValueRef =>
  blob === undefined ? { json } : { blob };

const EMPTY_BASE = JSON.stringify({ values: {}, trusted: [] } satisfies BaseValues);

/** The values that `loadValueRefs` found, opened, and which of them are text of the workflow file itself. */
export async function openValues(
  deps: Pick<Ports, "blobs">,
  loaded: Omit<LoadedValues, "kept"> & { readonly values: LoadedValues["kept"] },
): Promise<{ readonly values: Record<string, unknown>; readonly trusted: readonly string[] }> {
  const values: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const [name, value] of Object.entries(loaded.values)) values[name] = await openValue(deps, value);
  const trusted = [...loaded.trusted];
  for (const kept of loaded.bases ?? []) {
    const base = ((await openValue(deps, kept)) ?? { values: {}, trusted: [] }) as BaseValues;
    trusted.push(...base.trusted.filter((name) => !(name in values)));
    for (const [name, value] of Object.entries(base.values)) if (!(name in values)) values[name] = value;
  }
  return { values, trusted };
}

/** The value itself, wherever it lies; null where it is gone. */
export async function openValue(deps: Pick<Ports, "blobs">, kept: StoredValueRef): Promise<unknown> {
  if ("json" in kept) return JSON.parse(kept.json);
  const bytes = await deps.blobs.get(kept.blob);
  return bytes === undefined ? null : JSON.parse(Buffer.from(bytes).toString("utf8"));
}
