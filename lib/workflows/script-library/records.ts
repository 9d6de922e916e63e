import { createHash } from "node:crypto";
import { isRecord, textOf } from "./argument-values.ts";
import { linesOf, writeLines } from "./file-access.ts";
import type { FunctionContext, LibraryFunction } from "./library-types.ts";

const group = "output";

export type JsonRecord = Readonly<Record<string, unknown>>;

/** Parses a file of JSON lines. Skips lines that are not JSON objects; one warning gives their count. */
export function* recordsOf(path: unknown, context: FunctionContext): Generator<JsonRecord> {
  for (const { record } of recordLines(path, context)) yield record;
}

function* recordLines(
  path: unknown,
  context: FunctionContext,
): Generator<{ readonly line: string; readonly record: JsonRecord }> {
  let others = 0;
  for (const line of linesOf(path, context)) {
    if (line.trim() === "") continue;
    const record = parsed(line);
    if (isRecord(record)) yield { line, record };
    else others += 1;
  }
  if (others > 0) context.log("warn", `${textOf(path)}: skipped ${others} lines that are not JSON objects`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Names as a list, or as text separated by commas. Throws if there are none. */
export function fieldsOf(given: unknown): string[] {
  const list = Array.isArray(given) ? given.map(textOf) : textOf(given).split(",");
  const fields = list.map((field) => field.trim()).filter((field) => field !== "");
  if (fields.length === 0) throw new Error("fields are required");
  return fields;
}

/** The value at a name, or at a path of names separated by dots; undefined if it is missing. */
export function fieldOf(record: JsonRecord, field: string): unknown {
  if (Object.hasOwn(record, field)) return record[field];
  let value: unknown = record;
  for (const name of field.split(".")) {
    if (!isRecord(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}

/** The distinct names of all objects of a file, those of the first object first. */
export function columnsOf(records: Iterable<JsonRecord>): string[] {
  const columns = new Set<string>();
  for (const record of records) {
    for (const name of Object.keys(record)) columns.add(name);
    if (columns.size > COLUMNS_MAX) throw new Error(`more than ${COLUMNS_MAX} columns`);
  }
  return [...columns];
}

const COLUMNS_MAX = 1_000;

/** Maps old names to new ones: an object, its JSON text, or `old:new` separated by commas. */
function renamesOf(given: unknown): ReadonlyMap<string, string> {
  const value = typeof given === "string" && given.trimStart().startsWith("{") ? parsed(given) : given;
  if (isRecord(value)) return new Map(Object.entries(value).map(([name, to]) => [name, textOf(to)]));
  return new Map(
    fieldsOf(given).map((pair): [string, string] => {
      const [name = "", to = ""] = pair.split(/[:=]/).map((part) => part.trim());
      if (name === "" || to === "") throw new Error("fields must be old:new pairs");
      return [name, to];
    }),
  );
}

function* unique(path: unknown, fields: readonly string[], context: FunctionContext): Generator<string> {
  const seen = new Set<string>();
  for (const { line, record } of recordLines(path, context)) {
    const key = JSON.stringify(fields.map((field) => fieldOf(record, field) ?? null));
    const hash = createHash("sha1").update(key).digest("base64").slice(0, 16);
    if (seen.has(hash)) continue;
    seen.add(hash);
    yield line.trim();
  }
}

function* mapped(
  path: unknown,
  change: (record: JsonRecord) => JsonRecord,
  context: FunctionContext,
): Generator<string> {
  for (const record of recordsOf(path, context)) yield JSON.stringify(change(record));
}

export const recordFunctions = {
  jsonl_unique: {
    group,
    params: ["source", "dest", "fields"],
    returns: "boolean",
    summary: "Removes JSON lines that equal an earlier one in some fields (a list, or text with commas)",
    example: 'jsonl_unique("all.jsonl", "unique.jsonl", "host,port")',
    failure: false,
    run: ([source, dest, fields], context: FunctionContext) => {
      writeLines(dest, unique(source, fieldsOf(fields), context), context);
      return true;
    },
  },
  jsonl_filter: {
    group,
    params: ["source", "dest", "fields"],
    returns: "boolean",
    summary: "Writes JSON lines with only some of their fields; a.b is the field b of the object a",
    example: 'jsonl_filter("httpx.jsonl", "short.jsonl", ["url", "tls.version"])',
    failure: false,
    run: ([source, dest, given], context: FunctionContext) => {
      const fields = fieldsOf(given);
      const kept = (record: JsonRecord): JsonRecord =>
        Object.fromEntries(
          fields
            .map((field) => [field, fieldOf(record, field)] as const)
            .filter(([, value]) => value !== undefined && value !== null),
        );
      writeLines(dest, mapped(source, kept, context), context);
      return true;
    },
  },
  jsonl_rename_key: {
    group,
    params: ["source", "dest", "renames"],
    returns: "boolean",
    summary: "Writes JSON lines with fields renamed: {old: new}, or text as old:new,old2:new2",
    example: 'jsonl_rename_key("in.jsonl", "out.jsonl", { host: "hostname" })',
    failure: false,
    run: ([source, dest, given], context: FunctionContext) => {
      const renames = renamesOf(given);
      const renamed = (record: JsonRecord): JsonRecord =>
        Object.fromEntries(Object.entries(record).map(([name, value]) => [renames.get(name) ?? name, value]));
      writeLines(dest, mapped(source, renamed, context), context);
      return true;
    },
  },
} satisfies Record<string, LibraryFunction>;
