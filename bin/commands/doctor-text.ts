import { heading } from "../command.ts";
import { printable } from "../connection.ts";
import type { AwsReport, HandlerRow, LimitRow } from "./doctor-aws.ts";
import type { Check } from "./doctor-machine.ts";

const HANDLERS_SHOWN = 10;
const BEYOND = { refused: "", split: "more goes in parts", elsewhere: "not measured" } as const;

/** The report for people: limits, the functions that took longest, what the templates hold, what would not fit. */
export function reportText(report: AwsReport): string {
  const { limits, handlers, stacks, faults, since, written } = report;
  const shown = handlers.slice(0, HANDLERS_SHOWN);
  const more = handlers.length - shown.length;
  return [
    heading(since === null ? "Limits" : `Limits, and the most seen since ${since} (written ${written})`),
    grid(["limit", "allowed", "most", "share", "unit", "set by", ""], limits.map(limitCells), [1, 2, 3]),
    "",
    heading(more > 0 ? `Functions, the longest ${shown.length} of ${handlers.length}` : "Functions"),
    shown.length === 0
      ? "  none was seen"
      : grid(["function", "longest", "timeout", "share"], shown.map(handlerCells), [1, 2, 3]),
    "",
    heading("Templates"),
    grid(
      ["file", "resources", "functions", "rules", "queues", "tables", "parameters", "longest environment"],
      stacks.map(
        ({ file, resources, functions, rules, queues, tables, parameters, longestEnvironment: longest }) => [
          file,
          ...[resources, functions, rules, queues, tables, parameters].map(String),
          longest === null ? "none" : `${grouped(longest.bytes)} bytes (${longest.function})`,
        ],
      ),
      [1, 2, 3, 4, 5, 6],
    ),
    "",
    ...(faults.length === 0
      ? ["All of it would fit into AWS."]
      : [heading("Would not fit"), ...faults.map((fault) => `  ${printable(fault)}`)]),
    "",
  ].join("\n");
}

function limitCells({ limit, allowed, mark, exact, share, unit, source, beyond, where }: LimitRow): string[] {
  const most =
    mark === null ? (beyond === "elsewhere" ? "-" : "not seen") : `${exact ? "" : "≤ "}${grouped(mark)}`;
  return [limit, grouped(allowed), most, percentText(share), unit, source, where ?? BEYOND[beyond]];
}

function handlerCells({ function: name, ms, timeoutSeconds, share }: HandlerRow): string[] {
  const longest = ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
  return [
    printable(name),
    longest,
    timeoutSeconds === null ? "none" : `${timeoutSeconds} s`,
    percentText(share),
  ];
}

/** The checks for people, what to do under each that is not well. */
export function checksText(checks: readonly Check[]): string {
  const width = Math.max(...checks.map(({ name }) => name.length));
  const lines = checks.flatMap(({ level, name, text, hint }) => [
    `${level.padEnd(4)}  ${name.padEnd(width)}  ${printable(text)}`,
    ...(hint === undefined ? [] : [`${" ".repeat(width + 8)}${printable(hint)}`]),
  ]);
  return `${lines.join("\n")}\n`;
}

function grouped(value: number): string {
  return value.toLocaleString("en-US", { maximumFractionDigits: 1 });
}

function percentText(share: number | null): string {
  return share === null ? "" : `${share.toFixed(1)} %`;
}

/** Rows under a head, indented; the columns of these numbers stand to the right. */
function grid(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  right: readonly number[],
): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        return right.includes(column) ? cell.padStart(width) : cell.padEnd(width);
      })
      .join("  ");
  return all.map((row) => `  ${line(row)}`.trimEnd()).join("\n");
}
