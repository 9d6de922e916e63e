/** Gives the JSON value of a name, or undefined where there is none. */
export type Lookup = (root: string) => unknown;

/** Where a template takes its values from; of a record only its own keys count. */
export type Values = Lookup | Readonly<Record<string, unknown>>;

const NEVER_RESOLVED: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);
const ARRAY_INDEX = /^\d{1,15}$/;

/** The names to try, in order: as written, then with `_` for `-`, as the engine names what steps give. */
export function spellings(name: string): readonly string[] {
  return name.includes("-") ? [name, name.replaceAll("-", "_")] : [name];
}

/** Follows keys and array indexes into a JSON value; undefined where the path leads nowhere. */
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

/** Looks a name up under each spelling and says under which one it was found. */
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

/** The text of a JSON value: undefined and null are empty, lists and objects are JSON, numbers are plain. */
export function toText(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return value;
  // From 1e21 on String() would write an exponent, which no shell or URL takes for a number.
  if (typeof value === "number" && Number.isInteger(value)) return BigInt(value).toString();
  if (typeof value === "object") return JSON.stringify(value);
  return String(value);
}
