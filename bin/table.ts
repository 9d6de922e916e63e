import { styleText } from "node:util";
import { heading, type Terminal } from "./command.ts";
import { printable } from "./connection.ts";

/** A column of a table. */
export interface Column<Row> {
  readonly head: string;
  text(row: Row): string;
  /** Numbers stand to the right. */
  readonly right?: boolean;
  /** It is cut where the screen is too narrow; others keep what they hold. */
  readonly cut?: boolean;
  colour?(row: Row): Colour | undefined;
}

export type Colour = "green" | "red" | "yellow" | "gray" | "cyan";

const GAP = "  ";
/** A column is not cut below this. */
const LEAST_COLUMNS = 6;
/** Letters that take two columns of a screen. */
const WIDE =
  /^[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uA960-\uA97F\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6]|^\p{Emoji_Presentation}/u;
const letters = new Intl.Segmenter();

/** Rows under a head, within the screen's width where there is one. */
export function table<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  width: Terminal["width"],
): string {
  const cells = rows.map((row) => columns.map((column) => printable(column.text(row))));
  const wanted = columns.map(({ head }, at) =>
    Math.max(columnsOf(head), ...cells.map((row) => columnsOf(row[at] ?? ""))),
  );
  const widths = fitted(columns, wanted, width);
  const padded = (text: string, at: number): string => {
    const shown = shortened(text, widths[at] ?? 0);
    const rest = " ".repeat(Math.max(0, (widths[at] ?? 0) - columnsOf(shown)));
    if (columns[at]?.right === true) return rest + shown;
    return at === columns.length - 1 ? shown : shown + rest;
  };
  const line = (texts: readonly string[]): string => texts.join(GAP).trimEnd();
  const head = line(columns.map((column, at) => padded(column.head, at)));
  return [
    heading(head),
    ...rows.map((row, index) =>
      line(
        columns.map((column, at) => {
          const text = padded(cells[index]?.[at] ?? "", at);
          const colour = column.colour?.(row);
          return colour === undefined ? text : coloured(colour, text);
        }),
      ),
    ),
    "",
  ].join("\n");
}

/** Coloured where the terminal shows it. */
export const coloured = (colour: Colour, text: string): string =>
  styleText(colour, text, { stream: process.stdout });

/** Widths that fit: the widest of those that may be cut give way first; at last any does. */
function fitted<Row>(
  columns: readonly Column<Row>[],
  wanted: readonly number[],
  width: number | undefined,
): number[] {
  const widths = [...wanted];
  if (width === undefined) return widths;
  let over = widths.reduce((sum, each) => sum + each, GAP.length * (widths.length - 1)) - width;
  for (const any of [false, true]) {
    while (over > 0) {
      const candidates = widths
        .map((each, at) => ({ each, at }))
        .filter(({ each, at }) => (any ? each > 1 : columns[at]?.cut === true && each > LEAST_COLUMNS));
      const widest = candidates.toSorted((a, b) => b.each - a.each)[0];
      if (widest === undefined) break;
      widths[widest.at] = widest.each - 1;
      over -= 1;
    }
  }
  return widths;
}

/** Columns of a screen that a text takes. */
export function columnsOf(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length;
  let columns = 0;
  for (const { segment } of letters.segment(text)) columns += WIDE.test(segment) ? 2 : 1;
  return columns;
}

/** A text of at most so many columns, with a mark where it was cut. */
export function shortened(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  let shown = "";
  let used = 0;
  for (const { segment } of letters.segment(text)) {
    const next = WIDE.test(segment) ? 2 : 1;
    if (used + next > columns - 1) break;
    shown += segment;
    used += next;
  }
  return `${shown}…`;
}

/** Names and values, a line each. */
export function fields(rows: readonly (readonly [name: string, value: string])[]): string {
  const shown = rows.filter(([, value]) => value !== "");
  const width = Math.max(0, ...shown.map(([name]) => name.length));
  return shown.map(([name, value]) => `${name.padEnd(width)}  ${printable(value)}\n`).join("");
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** `340ms`, `2.1s`, `3m05s`, `2h07m`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))}ms`;
  if (ms < MINUTE) return `${(Math.floor(ms / 100) / 10).toFixed(1)}s`;
  const two = (value: number): string => String(Math.floor(value)).padStart(2, "0");
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)}m${two((ms % MINUTE) / 1_000)}s`;
  return `${Math.floor(ms / HOUR)}h${two((ms % HOUR) / MINUTE)}m`;
}

const STATUS_COLOURS: Readonly<Record<string, Colour>> = {
  completed: "green",
  failed: "red",
  running: "cyan",
  cancelled: "yellow",
  skipped: "gray",
};

export const statusColour = (status: string): Colour | undefined => STATUS_COLOURS[status];

/** `2026-01-31 12:00:00`, as the server counts time: UTC. */
export const moment = (at: string | null | undefined): string =>
  at === null || at === undefined ? "" : at.replace("T", " ").replace(/\.\d+Z$|Z$/, "");
