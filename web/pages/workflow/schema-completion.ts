/** Part of a JSON Schema, as far as completion reads it. */
export interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly type?: string | readonly string[];
  readonly description?: string;
}

export interface Proposal {
  readonly label: string;
  readonly kind: "field" | "value";
  readonly detail?: string;
}

const LINE = /^(\s*)((?:-\s+)*)(?:([\w-]+)\s*:(?:\s+(.*))?)?/;
const KEY_BEFORE_CURSOR = /^\s*(?:-\s+)*([\w-]*)$/;
const VALUE_BEFORE_CURSOR = /^\s*(?:-\s+)*([\w-]+)\s*:\s+([\w-]*)$/;

/** A part of the way from the beginning of the text to a line: a field, or the items of a list. */
type Part = string | typeof ITEM;
const ITEM = Symbol("item");

interface Place {
  readonly path: readonly Part[];
  /** Fields that are next to the line. */
  readonly siblings: ReadonlyMap<string, string>;
}

/**
 * Fields or values that the schema allows at the end of the last of `lines`; `after` are the lines below it. `prefix`
 * is what has been typed of it; undefined if nothing can be completed there.
 */
export function propose(
  schema: Schema,
  lines: readonly string[],
  after: readonly string[] = [],
): { readonly prefix: string; readonly proposals: readonly Proposal[] } | undefined {
  const line = lines.at(-1) ?? "";
  const [value, key] = [VALUE_BEFORE_CURSOR.exec(line), KEY_BEFORE_CURSOR.exec(line)];
  const place = placeOf(lines, after);
  if (place === undefined) return undefined;
  const { path, siblings } = place;
  const objects = resolve(schema, schema, path, siblings);
  if (value !== null) {
    const [, name = "", prefix = ""] = value;
    const values = objects.flatMap((one) => valuesOf(schema, one.properties?.[name]));
    return { prefix, proposals: [...new Set(values)].map((label) => ({ label, kind: "value" })) };
  }
  if (key === null) return undefined;
  const [, prefix = ""] = key;
  const fields = new Map<string, Proposal>();
  for (const { properties = {} } of objects)
    for (const [label, { description }] of Object.entries(properties))
      if (!siblings.has(label) && !fields.has(label))
        fields.set(label, {
          label,
          kind: "field",
          ...(description === undefined ? {} : { detail: description }),
        });
  return { prefix, proposals: [...fields.values()] };
}

/** Where the last line is, by the indentation of the lines before it; undefined inside a text of several lines. */
function placeOf(lines: readonly string[], after: readonly string[]): Place | undefined {
  const own = partsOf(lines.at(-1) ?? "");
  const path: Part[] = own.isItem ? [ITEM] : [];
  const siblings = new Map<string, string>();
  let { column, isItem } = own;
  // Fields of the same map above, and the fields and lists that contain it.
  let isOwnMap = !isItem;
  let listColumn = isItem ? own.indent : undefined;
  for (const line of lines.slice(0, -1).toReversed()) {
    if (line.trim() === "" || line.trimStart().startsWith("#")) continue;
    const parts = partsOf(line);
    if (listColumn !== undefined) {
      if (parts.indent > listColumn || (parts.isItem && parts.indent === listColumn)) continue;
      if (parts.key === undefined) break;
      path.unshift(parts.key);
      [column, listColumn, isOwnMap] = [parts.column, parts.isItem ? parts.indent : undefined, false];
      if (parts.isItem) path.unshift(ITEM);
    } else if (parts.column === column) {
      if (isOwnMap && parts.key !== undefined) siblings.set(parts.key, parts.value);
      if (!parts.isItem) continue;
      path.unshift(ITEM);
      [listColumn, isOwnMap] = [parts.indent, false];
    } else if (parts.column < column) {
      if (parts.key === undefined || parts.value !== "") return undefined;
      path.unshift(parts.key);
      [column, isOwnMap] = [parts.column, false];
      if (!parts.isItem) continue;
      path.unshift(ITEM);
      listColumn = parts.indent;
    }
  }
  for (const line of after) {
    if (line.trim() === "") continue;
    const parts = partsOf(line);
    if (parts.column < own.column || parts.isItem) break;
    if (parts.column === own.column && parts.key !== undefined) siblings.set(parts.key, parts.value);
  }
  return { path, siblings };
}

function partsOf(line: string): {
  readonly indent: number;
  /** Column of the key. */
  readonly column: number;
  readonly isItem: boolean;
  readonly key: string | undefined;
  readonly value: string;
} {
  const [, spaces = "", dashes = "", key, value = ""] = LINE.exec(line) ?? [];
  return {
    indent: spaces.length,
    column: spaces.length + dashes.length,
    isItem: dashes !== "",
    key,
    value: value.trim(),
  };
}

/** The schemas of the objects at a path. Of alternatives by type, the one whose type is next to it. */
function resolve(
  root: Schema,
  schema: Schema,
  path: readonly Part[],
  siblings: ReadonlyMap<string, string>,
): Schema[] {
  const [part, ...rest] = path;
  const alternatives = flat(root, schema);
  if (part === undefined) {
    const type = siblings.get("type");
    const chosen = alternatives.filter(({ properties }) => properties?.type?.const === type);
    return chosen.length > 0 ? chosen : alternatives;
  }
  return alternatives.flatMap((one) => {
    const next =
      part === ITEM
        ? one.items
        : (one.properties?.[part] ??
          (typeof one.additionalProperties === "object" ? one.additionalProperties : undefined));
    return next === undefined ? [] : resolve(root, next, rest, siblings);
  });
}

function flat(root: Schema, schema: Schema): Schema[] {
  const name = schema.$ref?.replace("#/$defs/", "");
  const target = name === undefined ? schema : (root.$defs?.[name] ?? {});
  const alternatives = target.oneOf ?? target.anyOf;
  return alternatives === undefined ? [target] : alternatives.flatMap((one) => flat(root, one));
}

function valuesOf(root: Schema, schema: Schema | undefined): string[] {
  if (schema === undefined) return [];
  return flat(root, schema).flatMap((one) => {
    if (one.const !== undefined) return [String(one.const)];
    if (one.enum !== undefined) return one.enum.map(String);
    return [one.type].flat().includes("boolean") && one.type !== undefined && [one.type].flat().length <= 2
      ? ["true", "false"]
      : [];
  });
}
