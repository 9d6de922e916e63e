import { textOf } from "./argument-values.ts";

/** A table in Markdown, line by line; cells stay cells whatever is in them. */
export function* tableOf(names: readonly string[], rows: Iterable<readonly unknown[]>): Generator<string> {
  yield rowOf(names);
  yield `|${" --- |".repeat(names.length)}`;
  for (const row of rows) yield rowOf(names.map((_, index) => row[index]));
}

function rowOf(cells: readonly unknown[]): string {
  return `| ${cells.map(cellOf).join(" | ")} |`;
}

/** Text of a cell: no line breaks, no bars, and no markup of HTML. */
export function cellOf(value: unknown): string {
  return textOf(value)
    .replaceAll(/\s*[\r\n]+\s*/g, " ")
    .replaceAll("\\", "\\\\")
    .replaceAll("|", "\\|")
    .replaceAll("<", "&lt;");
}
