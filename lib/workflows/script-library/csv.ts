import { textOf } from "./argument-values.ts";
import { readText, writeLines } from "./file-access.ts";
import type { FunctionContext, LibraryFunction } from "./library-types.ts";
import { tableOf } from "./markdown-tables.ts";
import { columnsOf, type JsonRecord, recordsOf } from "./records.ts";

let parse: typeof import("csv-parse/sync").parse | undefined;
let stringify: typeof import("csv-stringify/sync").stringify | undefined;

/** Loads the CSV library. */
export const prepare = async (): Promise<void> => {
  parse ??= (await import("csv-parse/sync")).parse;
  stringify ??= (await import("csv-stringify/sync")).stringify;
};

/** Text that a spreadsheet reads as a formula; numbers are excluded. */
const FORMULA = /^[=+\-@\t\r]/;
const NUMBER = /^[+-]?\d+(?:\.\d+)?$/;

/** Escapes text so that a spreadsheet displays it and does not evaluate it. */
export function safeCell(value: unknown): string {
  const text = textOf(value);
  return FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
}

function* csvLines(columns: readonly string[], records: Iterable<JsonRecord>): Generator<string> {
  if (stringify === undefined) throw new Error("CSV is loaded only for scripts that name the function");
  const line = (cells: readonly unknown[]): string =>
    (stringify?.([cells.map(safeCell)]) ?? "").replace(/\n$/, "");
  yield line(columns);
  for (const record of records)
    yield line(columns.map((name) => (Object.hasOwn(record, name) ? record[name] : "")));
}

/** The rows of CSV text; the first one contains the column names. Throws if the text is invalid. */
function rowsOf(text: string): string[][] {
  if (parse === undefined) throw new Error("CSV is loaded only for scripts that name the function");
  const rows: string[][] = parse(text, {
    bom: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: 1024 * 1024,
  });
  return rows;
}

export const csvFunctions = {
  jsonl_to_csv: {
    group: "output",
    params: ["source", "dest"],
    returns: "boolean",
    summary:
      "Writes JSON lines as CSV with a column per field; texts that a spreadsheet would evaluate as a formula get the prefix '",
    failure: false,
    prepare,
    run: ([source, dest], context: FunctionContext) => {
      const columns = columnsOf(recordsOf(source, context));
      if (columns.length === 0) throw new Error("the file contains no JSON objects");
      writeLines(dest, csvLines(columns, recordsOf(source, context)), context);
      return true;
    },
  },
  csv_to_jsonl: {
    group: "output",
    params: ["source", "dest"],
    returns: "boolean",
    summary: "Writes CSV of up to 10 MiB as JSON lines; the first row contains the field names",
    failure: false,
    prepare,
    run: ([source, dest], context: FunctionContext) => {
      const [names, ...rows] = rowsOf(readText(source, context));
      if (names === undefined) throw new Error("the file contains no rows");
      const toLine = (row: readonly string[]): string =>
        JSON.stringify(Object.fromEntries(names.map((name, index) => [name, row[index] ?? ""])));
      writeLines(dest, rows.map(toLine), context);
      return true;
    },
  },
  convert_csv_to_markdown: {
    group: "markdown",
    params: ["path"],
    returns: "string",
    summary: "A CSV file of up to 10 MiB as a table in Markdown",
    failure: "",
    prepare,
    run: ([path], context: FunctionContext) => {
      const [names, ...rows] = rowsOf(readText(path, context));
      return names === undefined ? "" : `${[...tableOf(names, rows)].join("\n")}\n`;
    },
  },
} satisfies Record<string, LibraryFunction>;
