import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import { type StoredValue, valueKey, valuesTable } from "./table.ts";

/** Largest value stored in its item, bytes of JSON; larger ones are stored in a blob. */
const VALUE_INLINE_BYTES = 32 * 1024;

/** Largest total of values in one message, bytes of JSON: limit of a bus event. */
export const VALUES_INLINE_BYTES = 128 * 1024;

/** Name of the item with all parameters and built-in variables of a run. */
export const BASE_VALUES = "#base";

/** A reference to a value: its JSON, or the blob with it. */
export type StoredValueRef = { readonly json: string } | { readonly blob: string };

/**
 * Stores a value inline or, if it is too large, in a blob. Blob keys are unique, so attempts do not overwrite each
 * other.
 */
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

/** Parameters and built-in variables of a run, and which of them are trusted text of the workflow file. */
export interface BaseValues {
  readonly values: Readonly<Record<string, unknown>>;
  /** Parameters whose value is the file's own default, without input from outside. */
  readonly trusted: readonly string[];
  /** Parameters that were given; the others have their defaults. Absent in runs of earlier versions. */
  readonly given?: readonly string[];
}

/** References to the values that an executor needs. */
export interface LoadedValues {
  readonly kept: Readonly<Record<string, StoredValueRef>>;
  /**
   * Parameters and built-in variables, if some are in a blob: names that are not in `kept` are looked up there. Earlier
   * entries take precedence.
   */
  readonly bases?: readonly StoredValueRef[];
  readonly trusted: readonly string[];
}

/** Name of the item with a module's own parameters, which take precedence over those of the run. */
export const moduleBase = (module: string): string => `${module}/${BASE_VALUES}`;

/**
 * Returns references to the values of a run by name, without reading blobs; unknown names are omitted. Values take
 * precedence over parameters and built-in variables, `readTailItems` over both. `module` is given for steps of a flow.
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

/** Reads the values that `loadValueRefs` found, and returns which of them are trusted text of the workflow file. */
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

/** Reads a value, from its blob if necessary; null if the blob was deleted. */
export async function openValue(deps: Pick<Ports, "blobs">, kept: StoredValueRef): Promise<unknown> {
  if ("json" in kept) return JSON.parse(kept.json);
  const bytes = await deps.blobs.get(kept.blob);
  return bytes === undefined ? null : JSON.parse(Buffer.from(bytes).toString("utf8"));
}
