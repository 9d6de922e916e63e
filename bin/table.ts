import { styleText } from "node:util";
import { printable } from "./terminal.ts";

export interface Column<Row> {
  readonly header: string;
  value(row: Row): string;
  readonly align?: "right";
  /** Whether the column is truncated first if the screen is too narrow. */
  readonly canShrink?: boolean;
  color?(row: Row): Color | undefined;
}

export type Color = "green" | "red" | "yellow" | "gray" | "cyan";

const GAP = "  ";
/** Columns that can shrink keep this width as long as possible. */
const SHRUNK_WIDTH_MIN = 6;
/** Characters that take two columns of the screen. */
const WIDE =
  /^[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uA960-\uA97F\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6]|^\p{Emoji_Presentation}/u;
const segmenter = new Intl.Segmenter();

/** Formats rows below a header; no line is wider than `maxWidth`. */
export function table<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  maxWidth: number | undefined,
): string {
  const cells = rows.map((row) => columns.map((column) => printable(column.value(row))));
  const natural = columns.map(({ header }, at) =>
    Math.max(displayWidth(header), ...cells.map((row) => displayWidth(row[at] ?? ""))),
  );
  const widths = shrink(columns, natural, maxWidth);
  const pad = (text: string, at: number): string => {
    const shown = truncate(text, widths[at] ?? 0);
    const padding = " ".repeat(Math.max(0, (widths[at] ?? 0) - displayWidth(shown)));
    if (columns[at]?.align === "right") return padding + shown;
    return at === columns.length - 1 ? shown : shown + padding;
  };
  const line = (texts: readonly string[]): string => texts.join(GAP).trimEnd();
  return [
    bold(line(columns.map(({ header }, at) => pad(header, at)))),
    ...rows.map((row, index) =>
      line(columns.map((column, at) => colorize(column.color?.(row), pad(cells[index]?.[at] ?? "", at)))),
    ),
    "",
  ].join("\n");
}

/** Styles text for standard output, unless it has no colors. */
export const bold = (text: string): string => styleText("bold", text, { stream: process.stdout });
export const colorize = (color: Color | undefined, text: string): string =>
  color === undefined ? text : styleText(color, text, { stream: process.stdout });

/** Shrinks the widest column until all fit: first those that can shrink, then any. */
function shrink<Row>(
  columns: readonly Column<Row>[],
  natural: readonly number[],
  maxWidth: number | undefined,
): number[] {
  const widths = [...natural];
  if (maxWidth === undefined) return widths;
  let excess = widths.reduce((sum, each) => sum + each, GAP.length * (widths.length - 1)) - maxWidth;
  for (const any of [false, true]) {
    while (excess > 0) {
      const candidates = widths
        .map((width, at) => ({ width, at }))
        .filter(({ width, at }) =>
          any ? width > 1 : columns[at]?.canShrink === true && width > SHRUNK_WIDTH_MIN,
        );
      const widest = candidates.toSorted((a, b) => b.width - a.width)[0];
      if (widest === undefined) break;
      widths[widest.at] = widest.width - 1;
      excess -= 1;
    }
  }
  return widths;
}

/** Columns of the screen that a text takes. */
export function displayWidth(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of segmenter.segment(text)) width += WIDE.test(segment) ? 2 : 1;
  return width;
}

/** Shortens a text to a width; `…` replaces what is removed. */
export function truncate(text: string, maxWidth: number): string {
  if (displayWidth(text) <= maxWidth) return text;
  let shown = "";
  let width = 0;
  for (const { segment } of segmenter.segment(text)) {
    const next = WIDE.test(segment) ? 2 : 1;
    if (width + next > maxWidth - 1) break;
    shown += segment;
    width += next;
  }
  return `${shown}…`;
}

/** Formats names and values, one pair per line; empty values are omitted. */
export function fieldList(rows: readonly (readonly [name: string, value: string])[]): string {
  const shown = rows.filter(([, value]) => value !== "");
  const width = Math.max(0, ...shown.map(([name]) => name.length));
  return shown.map(([name, value]) => `${name.padEnd(width)}  ${printable(value)}\n`).join("");
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** `340ms`, `2.1s`, `3m05s`, `2h07m`. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))}ms`;
  if (ms < MINUTE_MS) return `${(Math.floor(ms / 100) / 10).toFixed(1)}s`;
  const twoDigits = (value: number): string => String(Math.floor(value)).padStart(2, "0");
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)}m${twoDigits((ms % MINUTE_MS) / 1_000)}s`;
  return `${Math.floor(ms / HOUR_MS)}h${twoDigits((ms % HOUR_MS) / MINUTE_MS)}m`;
}

const STATUS_COLORS: Readonly<Record<string, Color>> = {
  completed: "green",
  failed: "red",
  running: "cyan",
  cancelled: "yellow",
  skipped: "gray",
};

export const statusColor = (status: string): Color | undefined => STATUS_COLORS[status];

/** `2026-01-31 12:00:00` in UTC; empty for null. */
export const formatTime = (time: string | null | undefined): string =>
  time === null || time === undefined ? "" : time.replace("T", " ").replace(/\.\d+Z$|Z$/, "");

/** `key=value  other=value` */
export const formatParams = (params: Readonly<Record<string, string>>): string =>
  Object.entries(params)
    .map((pair) => pair.join("="))
    .join("  ");
