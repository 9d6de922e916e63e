import { bold, type Column, table } from "../table.ts";
import { printable } from "../terminal.ts";
import type { AwsReport, HandlerRow, LimitRow } from "./doctor-aws.ts";
import type { Check } from "./doctor-machine.ts";
import type { StackCounts } from "./doctor-template.ts";

const HANDLERS_SHOWN = 10;
const BEYOND = { refused: "", split: "more is split", elsewhere: "not measured" } as const;

const LIMIT_COLUMNS: readonly Column<LimitRow>[] = [
  { header: "limit", value: ({ limit }) => limit },
  { header: "allowed", value: ({ allowed }) => formatNumber(allowed), align: "right" },
  { header: "highest", value: formatMark, align: "right" },
  { header: "share", value: ({ share }) => formatPercent(share), align: "right" },
  { header: "unit", value: ({ unit }) => unit },
  { header: "set by", value: ({ source }) => source },
  { header: "", value: ({ where, beyond }) => where ?? BEYOND[beyond] },
];

const HANDLER_COLUMNS: readonly Column<HandlerRow>[] = [
  { header: "function", value: (row) => row.function },
  {
    header: "longest",
    value: ({ ms }) => (ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`),
    align: "right",
  },
  {
    header: "timeout",
    value: ({ timeoutSeconds }) => (timeoutSeconds === null ? "none" : `${timeoutSeconds} s`),
    align: "right",
  },
  { header: "share", value: ({ share }) => formatPercent(share), align: "right" },
];

const COUNTS = ["resources", "functions", "rules", "queues", "tables", "parameters"] as const;

const STACK_COLUMNS: readonly Column<StackCounts>[] = [
  { header: "file", value: ({ file }) => file },
  ...COUNTS.map(
    (name): Column<StackCounts> => ({ header: name, value: (stack) => String(stack[name]), align: "right" }),
  ),
  {
    header: "longest environment",
    value: ({ longestEnvironment: longest }) =>
      longest === null ? "none" : `${formatNumber(longest.bytes)} bytes (${longest.function})`,
  },
];

/** The report as text: limits, the functions that took longest, the templates, and the exceeded limits. */
export function formatAwsReport({ limits, handlers, stacks, faults, since, written }: AwsReport): string {
  const shown = handlers.slice(0, HANDLERS_SHOWN);
  const isCut = handlers.length > shown.length;
  return [
    bold(since === null ? "Limits" : `Limits, and the highest values since ${since} (written ${written})`),
    indentedTable(LIMIT_COLUMNS, limits),
    bold(isCut ? `Functions: the longest ${shown.length} of ${handlers.length}` : "Functions"),
    shown.length === 0 ? "  none was measured\n" : indentedTable(HANDLER_COLUMNS, shown),
    bold("Templates"),
    indentedTable(STACK_COLUMNS, stacks),
    ...(faults.length === 0
      ? ["Everything fits the limits of AWS."]
      : [bold("Exceeded limits"), ...faults.map((fault) => `  ${printable(fault)}`)]),
    "",
  ].join("\n");
}

/** Not truncated: the report is for reading, and the values at the end matter. */
const indentedTable = <Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string =>
  table(columns, rows, undefined).replace(/^(?=.)/gm, "  ");

/** The checks as text, each problem followed by what to do. */
export function formatChecks(checks: readonly Check[]): string {
  const width = Math.max(...checks.map(({ name }) => name.length));
  const lines = checks.flatMap(({ level, name, text, hint }) => [
    `${level.padEnd(4)}  ${name.padEnd(width)}  ${printable(text)}`,
    ...(hint === undefined ? [] : [`${" ".repeat(width + 8)}${printable(hint)}`]),
  ]);
  return `${lines.join("\n")}\n`;
}

function formatMark({ mark, beyond }: LimitRow): string {
  if (mark === null) return beyond === "elsewhere" ? "-" : "not measured";
  return formatNumber(mark);
}

const formatNumber = (value: number): string => value.toLocaleString("en-US", { maximumFractionDigits: 1 });
const formatPercent = (share: number | null): string => (share === null ? "" : `${share.toFixed(1)} %`);
