import { textOf } from "./argument-values.ts";

/** A Markdown table, line by line; cell content is escaped. */
export function* tableOf(names: readonly string[], rows: Iterable<readonly unknown[]>): Generator<string> {
  yield rowOf(names);
  yield `|${" --- |".repeat(names.length)}`;
  for (const row of rows) yield rowOf(names.map((_, index) => row[index]));
}

function rowOf(cells: readonly unknown[]): string {
  return `| ${cells.map(cellOf).join(" | ")} |`;
}

/** Text of a cell, with line breaks, bars and HTML markup removed or escaped. */
export function cellOf(value: unknown): string {
  return textOf(value)
    .replaceAll(/\s*[\r\n]+\s*/g, " ")
    .replaceAll("\\", "\\\\")
    .replaceAll("|", "\\|")
    .replaceAll("<", "&lt;");
}
