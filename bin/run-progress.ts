import { setTimeout as sleep } from "node:timers/promises";
import { type Connection, NoResponse } from "./connection.ts";
import { readData } from "./responses.ts";
import { colorize, formatDuration, statusColor, truncate } from "./table.ts";
import { printable, terminal } from "./terminal.ts";

/** A run in the server's responses, which have more fields. */
export interface RunRecord {
  readonly run_id: string;
  readonly workflow_name: string;
  readonly target: string;
  readonly workspace: string;
  readonly status: string;
  readonly error_message: string;
  readonly started_at: string | null;
  readonly completed_at: string | null;
  readonly created_at: string;
  readonly trigger_type: string;
  readonly total_steps: number;
  readonly completed_steps: number;
}

export interface StepRecord {
  readonly id: string;
  readonly module: string;
  readonly step_name: string;
  readonly step_type: string;
  readonly status: string;
  readonly attempt: number;
  readonly output: string;
  readonly output_truncated: boolean;
  readonly error_message: string;
  readonly duration_ms: number;
  readonly started_at: string;
}

export const FINISHED: ReadonlySet<string> = new Set(["completed", "failed", "cancelled", "skipped"]);
const RUNS = "/automation/runs";
const POLL_FIRST_MS = 50;
const POLL_MAX_MS = 500;
/** Runs that one poll reads. */
const RUNS_PER_POLL = 20;
/** A server that restarts responds again within this time. */
const NO_RESPONSE_MAX_MS = 30_000;
const NAME_WIDTH = 28;
const TYPE_WIDTH = 14;
const DEFAULT_SCREEN_WIDTH = 80;
const ERASE_LINE = "\r\u001b[2K";

export const runPath = (id: string): string => `${RUNS}/${encodeURIComponent(id)}`;

/** What to print while runs are in progress. */
export interface ProgressOptions {
  readonly isQuiet: boolean;
  /** Print the output of each step. */
  readonly withOutput: boolean;
}

/** Waits until all runs have finished. Prints the steps of a single run, or a line for each of several runs. */
export async function followRuns(
  connection: Connection,
  ids: readonly string[],
  options: ProgressOptions,
): Promise<RunRecord[]> {
  const finished = new Map<string, RunRecord>();
  const printed = new Set<string>();
  const statusLine = createStatusLine(options);
  let interval = POLL_FIRST_MS;
  let noResponseSince: number | undefined;
  while (finished.size < ids.length) {
    try {
      for (const id of ids.filter((each) => !finished.has(each)).slice(0, RUNS_PER_POLL)) {
        const run = await readData<RunRecord>(connection, runPath(id));
        if (ids.length === 1 && !options.isQuiet) {
          const steps = await readData<StepRecord[]>(connection, `${runPath(id)}/steps`);
          statusLine.clear();
          for (const step of steps) printFinishedStep(step, run, printed, options);
          if (!FINISHED.has(run.status)) statusLine.show(formatStatus(run, steps));
        }
        if (!FINISHED.has(run.status)) continue;
        finished.set(id, run);
        if (ids.length > 1 && !options.isQuiet) terminal.out(formatFinishedRun(run));
      }
      noResponseSince = undefined;
    } catch (error) {
      noResponseSince ??= performance.now();
      if (!(error instanceof NoResponse) || performance.now() - noResponseSince > NO_RESPONSE_MAX_MS)
        throw error;
    }
    if (finished.size === ids.length) break;
    await sleep(interval);
    interval = Math.min(POLL_MAX_MS, interval * 1.3);
  }
  statusLine.clear();
  return ids.flatMap((id) => finished.get(id) ?? []);
}

const STATUS_SYMBOLS: Readonly<Record<string, string>> = {
  completed: "✓",
  failed: "✗",
  skipped: "-",
  cancelled: "■",
};

/** Prints a step once it has finished; `printed` remembers the attempts that were printed. */
function printFinishedStep(
  step: StepRecord,
  run: RunRecord,
  printed: Set<string>,
  { withOutput }: ProgressOptions,
): void {
  const key = `${step.id} ${step.attempt} ${step.started_at}`;
  if (!FINISHED.has(step.status) || printed.has(key)) return;
  printed.add(key);
  const { status, attempt } = step;
  const words = [
    `${STATUS_SYMBOLS[status] ?? " "} ${stepName(step, run).padEnd(NAME_WIDTH)}`,
    step.step_type.padEnd(TYPE_WIDTH),
    status === "skipped" ? "skipped" : formatDuration(step.duration_ms),
    ...(attempt > 1 ? [`attempt ${attempt}`] : []),
  ];
  terminal.out(`  ${colorize(statusColor(status), words.join(" "))}\n`);
  if (step.error_message !== "") terminal.out(`      ${printable(step.error_message)}\n`);
  if (!withOutput || step.output === "") return;
  const lines = step.output.replace(/\n$/, "").split("\n");
  terminal.out(lines.map((line) => `      ${line.replace(/[^\P{C}\t]/gu, " ")}\n`).join(""));
  if (step.output_truncated) terminal.out("      …\n");
}

/** The step's name, in a flow with its module. */
const stepName = ({ module, step_name }: StepRecord, { workflow_name }: RunRecord): string =>
  printable(module === "" || module === workflow_name ? step_name : `${module}/${step_name}`);

function formatFinishedRun(run: RunRecord): string {
  const name = printable(run.target) || run.run_id;
  const reason = run.error_message === "" ? "" : `  ${printable(run.error_message)}`;
  const symbol = STATUS_SYMBOLS[run.status] ?? " ";
  const line = `${symbol} ${name.padEnd(NAME_WIDTH)} ${run.status} in ${elapsed(run)}${reason}`;
  return `  ${colorize(statusColor(run.status), line)}\n`;
}

/** How long a run took, or has taken so far. */
export function elapsed({
  started_at,
  created_at,
  completed_at,
}: Pick<RunRecord, "started_at" | "created_at" | "completed_at">): string {
  const end = completed_at === null ? Date.now() : Date.parse(completed_at);
  return formatDuration(end - Date.parse(started_at ?? created_at));
}

function formatStatus(run: RunRecord, steps: readonly StepRecord[]): string {
  const running = steps
    .filter(({ status }) => status === "running")
    .map((step) => `${stepName(step, run)} ${formatDuration(Date.now() - Date.parse(step.started_at))}`);
  const count = `${run.completed_steps} of ${run.total_steps}`;
  return `${run.status}  ${count}${running.length === 0 ? "" : `  ${running.join(", ")}`}`;
}

/** The last line of a terminal, which is overwritten; does nothing if standard output is not a terminal. */
function createStatusLine({ isQuiet }: ProgressOptions): {
  readonly show: (text: string) => void;
  readonly clear: () => void;
} {
  let isShown = false;
  if (!terminal.isInteractive || isQuiet) return { show: () => {}, clear: () => {} };
  return {
    show: (text) => {
      isShown = true;
      terminal.out(`${ERASE_LINE}  ${truncate(text, (terminal.width ?? DEFAULT_SCREEN_WIDTH) - 3)}`);
    },
    clear: () => {
      if (isShown) terminal.out(ERASE_LINE);
      isShown = false;
    },
  };
}
