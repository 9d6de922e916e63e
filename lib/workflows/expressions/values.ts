/** Returns the JSON value of a name; undefined if it has none. */
export type Lookup = (root: string) => unknown;

/** The values of a template; of a record only own keys count. */
export type Values = Lookup | Readonly<Record<string, unknown>>;

const NEVER_RESOLVED: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);
const ARRAY_INDEX = /^\d{1,15}$/;

/** The names to look up, in order: as written, then with `_` for `-`, as the engine names step exports. */
export function spellings(name: string): readonly string[] {
  return name.includes("-") ? [name, name.replaceAll("-", "_")] : [name];
}

/** Follows keys and array indexes into a JSON value; undefined if the path does not exist. */
export function readPath(value: unknown, path: readonly string[]): unknown {
  let current = value;
  for (const segment of path) {
    current = readSegment(current, segment);
    if (current === undefined) return undefined;
  }
  return current;
}

function readSegment(value: unknown, segment: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  if (Array.isArray(value)) return ARRAY_INDEX.test(segment) ? value[Number(segment)] : undefined;
  const fields = value as Readonly<Record<string, unknown>>;
  for (const key of spellings(segment)) {
    if (Object.hasOwn(fields, key) && !NEVER_RESOLVED.has(key)) return fields[key];
  }
  return undefined;
}

/** Looks a name up under each spelling; returns the value and the spelling that has it. */
export function readRoot(values: Values, root: string): { readonly name: string; readonly value: unknown } {
  for (const name of spellings(root)) {
    if (NEVER_RESOLVED.has(name)) continue;
    const value = typeof values === "function" ? values(name) : ownValue(values, name);
    if (value !== undefined) return { name, value };
  }
  return { name: root, value: undefined };
}

function ownValue(record: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

/** The text of a JSON value: undefined and null are empty, lists and objects are JSON, numbers have no exponent. */
export function toText(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return value;
  // From 1e21 String() writes an exponent, which shells and URLs do not read as a number.
  if (typeof value === "number" && Number.isInteger(value)) return BigInt(value).toString();
  if (typeof value === "object") return JSON.stringify(value);
  return String(value);
}
