import { setTimeout as sleep } from "node:timers/promises";
import { dataOf, type Schemas } from "../client/api.ts";
import { type Connection, NoResponse } from "./connection.ts";
import { readStream, type StreamEvent } from "./event-stream.ts";
import { readData } from "./responses.ts";
import { colorize, formatDuration, statusColor, truncate } from "./table.ts";
import { printable, terminal } from "./terminal.ts";

export type RunRecord = Schemas["Run"];
export type StepRecord = Schemas["StepResult"];

export const FINISHED: ReadonlySet<string> = new Set(["completed", "failed", "cancelled", "skipped"]);
const POLL_FIRST_MS = 50;
const POLL_MAX_MS = 500;
/** Several runs are also read from time to time: some may have ended before the stream was open. */
const ENDS_POLL_MS = 2_000;
/** Runs that one poll reads. */
const RUNS_PER_POLL = 20;
/** A server that restarts responds again within this time. */
const NO_RESPONSE_MAX_MS = 30_000;
const NAME_WIDTH = 28;
const TYPE_WIDTH = 14;
const DEFAULT_SCREEN_WIDTH = 80;
const ERASE_LINE = "\r\u001b[2K";

export const runPath = (id: string): string => `/automation/runs/${encodeURIComponent(id)}`;

export const readRun = ({ api }: Connection, id: string): Promise<RunRecord> =>
  readData(api.GET("/automation/runs/{id}", { params: { path: { id } } }));

export const readSteps = ({ api }: Connection, id: string): Promise<readonly StepRecord[]> =>
  readData(api.GET("/automation/runs/{id}/steps", { params: { path: { id } } }));

export async function cancelRun({ api }: Connection, id: string): Promise<unknown> {
  return dataOf(api.DELETE("/automation/runs/{id}", { params: { path: { id } } }));
}

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
  const [only = ""] = ids.length === 1 ? ids : [];
  using streams = new DisposableStack();
  let changes = only === "" ? undefined : streams.use(watchRun(connection, only));
  const ended = new Set<string>();
  while (finished.size < ids.length) {
    try {
      const unfinished = ids.filter((each) => !finished.has(each));
      const reported = unfinished.filter((each) => ended.has(each));
      for (const id of reported.length > 0 ? reported : unfinished.slice(0, RUNS_PER_POLL)) {
        const run = await readRun(connection, id);
        if (only === "") changes ??= streams.use(watchEnds(connection, run.workflow_name, ids, ended));
        if (ids.length === 1 && !options.isQuiet) {
          const steps = await readSteps(connection, id);
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
    if (changes?.isOpen === true) {
      // Changes that happen together are read together.
      const pollMs = only === "" ? ENDS_POLL_MS : POLL_MAX_MS;
      await Promise.all([sleep(POLL_FIRST_MS), Promise.race([changes.next(), sleep(pollMs)])]);
      continue;
    }
    await sleep(interval);
    interval = Math.min(POLL_MAX_MS, interval * 1.3);
  }
  statusLine.clear();
  return ids.flatMap((id) => finished.get(id) ?? []);
}

interface RunChanges extends Disposable {
  /** False before the stream is open, and if the server has none: the run is then read from time to time. */
  readonly isOpen: boolean;
  /** Resolves when the run has changed since the last call. */
  next(): Promise<void>;
}

/** Follows a run's stream. */
const watchRun = (connection: Connection, id: string): RunChanges =>
  watchStream(connection, `${runPath(id)}/stream?log=false`, ({ name }) =>
    name === "end" ? "end" : "change",
  );

const ENDS: ReadonlySet<string> = new Set(["run.completed", "run.failed", "run.cancelled"]);

/** Follows the events of a workflow's runs, and adds the ids of those that have ended. */
function watchEnds(
  connection: Connection,
  workflow: string,
  ids: readonly string[],
  ended: Set<string>,
): RunChanges {
  const awaited = new Set(ids);
  const query = new URLSearchParams({ workflow_name: workflow });
  return watchStream(connection, `/automation/event-logs/stream?${query}`, ({ name, data }) => {
    if (name !== "event") return "other";
    const { topic, run_id } = data as Schemas["EventLogRecord"];
    if (!ENDS.has(topic) || !awaited.has(run_id)) return "other";
    ended.add(run_id);
    return "change";
  });
}

/** Follows a stream; `judge` decides what an event means. */
function watchStream(
  connection: Connection,
  path: string,
  judge: (event: StreamEvent) => "change" | "end" | "other",
): RunChanges {
  const controller = new AbortController();
  let isOpen = false;
  let change = Promise.withResolvers<void>();
  const watch = async (): Promise<void> => {
    const { signal } = controller;
    for await (const event of readStream(connection, path, { signal })) {
      isOpen = true;
      const meaning = judge(event);
      if (meaning !== "other") change.resolve();
      if (meaning === "end") return;
    }
  };
  watch()
    // Requests for the run itself report what is wrong.
    .catch(() => {})
    .finally(() => {
      isOpen = false;
      change.resolve();
    });
  return {
    get isOpen() {
      return isOpen;
    },
    next: async () => {
      await change.promise;
      change = Promise.withResolvers<void>();
    },
    [Symbol.dispose]: () => controller.abort(),
  };
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
