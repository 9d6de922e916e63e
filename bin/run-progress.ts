import { setTimeout as wait } from "node:timers/promises";
import type { Terminal } from "./command.ts";
import { type Connection, NoAnswer, printable } from "./connection.ts";
import { readData } from "./pages.ts";
import { type Colour, coloured, duration, shortened, statusColour } from "./table.ts";

/** What the server tells of a run; further fields are as they come. */
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

export const OVER: ReadonlySet<string> = new Set(["completed", "failed", "cancelled", "skipped"]);
const RUNS = "/automation/runs";
const POLL_FIRST_MS = 50;
const POLL_MAX_MS = 500;
/** Of many runs, so many are looked at together. */
const LOOKED_AT = 20;
/** A server that is started again answers before this. */
const SILENCE_MAX_MS = 30_000;
const NAME_COLUMNS = 28;
const TYPE_COLUMNS = 14;
const ERASE_LINE = "\r\u001b[2K";

export const runPath = (id: string): string => `${RUNS}/${encodeURIComponent(id)}`;

/** How a run's steps are shown while it goes on. */
export interface Shown {
  /** Nothing at all. */
  readonly quiet: boolean;
  /** What each step wrote, too. */
  readonly outputs: boolean;
}

/** Waits until all of the runs are over, and shows what they do: the steps of one, or the ends of many. */
export async function followRuns(
  connection: Connection,
  ids: readonly string[],
  terminal: Terminal,
  shown: Shown,
): Promise<RunRecord[]> {
  const ended = new Map<string, RunRecord>();
  const told = new Set<string>();
  const line = statusLine(terminal, shown);
  let pause = POLL_FIRST_MS;
  let silentSince: number | undefined;
  while (ended.size < ids.length) {
    try {
      for (const id of ids.filter((each) => !ended.has(each)).slice(0, LOOKED_AT)) {
        const run = await readData<RunRecord>(connection, runPath(id));
        if (ids.length === 1 && !shown.quiet) {
          const steps = await readData<StepRecord[]>(connection, `${runPath(id)}/steps`);
          line.clear();
          for (const step of steps) tellStep(step, run, { told, terminal, shown });
          if (!OVER.has(run.status)) line.show(underWay(run, steps));
        }
        if (!OVER.has(run.status)) continue;
        ended.set(id, run);
        if (ids.length > 1 && !shown.quiet) terminal.out(endOf(run));
      }
      silentSince = undefined;
    } catch (error) {
      silentSince ??= performance.now();
      if (!(error instanceof NoAnswer) || performance.now() - silentSince > SILENCE_MAX_MS) throw error;
    }
    if (ended.size === ids.length) break;
    await wait(pause);
    pause = Math.min(POLL_MAX_MS, pause * 1.3);
  }
  line.clear();
  return ids.flatMap((id) => ended.get(id) ?? []);
}

const MARKS: Readonly<Record<string, string>> = {
  completed: "✓",
  failed: "✗",
  skipped: "-",
  cancelled: "■",
};

/** Where steps are told of, and which were. */
interface Told {
  readonly told: Set<string>;
  readonly terminal: Terminal;
  readonly shown: Shown;
}

function tellStep(step: StepRecord, run: RunRecord, { told, terminal, shown }: Told): void {
  const key = `${step.id} ${step.attempt} ${step.started_at}`;
  if (!OVER.has(step.status) || told.has(key)) return;
  told.add(key);
  const { status, attempt } = step;
  const words = [
    `${MARKS[status] ?? " "} ${padded(nameOf(step, run), NAME_COLUMNS)}`,
    padded(step.step_type, TYPE_COLUMNS),
    status === "skipped" ? "skipped" : duration(step.duration_ms),
    ...(attempt > 1 ? [`attempt ${attempt}`] : []),
  ];
  terminal.out(`  ${withColour(statusColour(status), words.join(" "))}\n`);
  if (step.error_message !== "") terminal.out(`      ${printable(step.error_message)}\n`);
  if (!shown.outputs || step.output === "") return;
  const lines = step.output.replace(/\n$/, "").split("\n");
  terminal.out(lines.map((each) => `      ${each.replace(/[^\P{C}\t]/gu, " ")}\n`).join(""));
  if (step.output_truncated) terminal.out("      …\n");
}

/** With its module, in a flow. */
const nameOf = ({ module, step_name }: StepRecord, { workflow_name }: RunRecord): string =>
  printable(module === "" || module === workflow_name ? step_name : `${module}/${step_name}`);

const padded = (text: string, columns: number): string => text.padEnd(columns);
const withColour = (colour: Colour | undefined, text: string): string =>
  colour === undefined ? text : coloured(colour, text);

/** The end of a run on a line of its own, among others. */
function endOf(run: RunRecord): string {
  const what = printable(run.target) || run.run_id;
  const why = run.error_message === "" ? "" : `  ${printable(run.error_message)}`;
  const words = `${MARKS[run.status] ?? " "} ${padded(what, NAME_COLUMNS)} ${run.status} in ${tookOf(run)}${why}`;
  return `  ${withColour(statusColour(run.status), words)}\n`;
}

/** How long a run took, or has taken so far. */
export function tookOf({
  started_at,
  created_at,
  completed_at,
}: Pick<RunRecord, "started_at" | "created_at" | "completed_at">): string {
  const end = completed_at === null ? Date.now() : Date.parse(completed_at);
  return duration(end - Date.parse(started_at ?? created_at));
}

function underWay(run: RunRecord, steps: readonly StepRecord[]): string {
  const now = steps.filter(({ status }) => status === "running");
  const names = now.map(
    (step) => `${nameOf(step, run)} ${duration(Date.now() - Date.parse(step.started_at))}`,
  );
  const done = `${run.completed_steps} of ${run.total_steps}`;
  return `${run.status}  ${done}${names.length === 0 ? "" : `  ${names.join(", ")}`}`;
}

/** The last line of the screen, which is written over; nothing where nobody watches. */
function statusLine(
  terminal: Terminal,
  { quiet }: Shown,
): { readonly show: (text: string) => void; readonly clear: () => void } {
  let isShown = false;
  if (terminal.live !== true || quiet) return { show: () => {}, clear: () => {} };
  return {
    show: (text) => {
      isShown = true;
      terminal.out(`${ERASE_LINE}  ${shortened(text, (terminal.width ?? 80) - 3)}`);
    },
    clear: () => {
      if (isShown) terminal.out(ERASE_LINE);
      isShown = false;
    },
  };
}
