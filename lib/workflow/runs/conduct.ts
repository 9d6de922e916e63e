import { COMMAND_SOURCE, composeEvents, type EventDeps, type EventDraft } from "../../events/publish.ts";
import type { BusEntry } from "../../platform/bus.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import type { Definitions } from "../definitions/store.ts";
import { type Decision, decide, type Input, type Request } from "../engine/decide.ts";
import { type FinishedStatus, type HistoryEntry, isTerminal, type RunState } from "../engine/history.ts";
import { buildProgram, type Program } from "../engine/program.ts";
import { runEvents, stepEvent } from "./run-events.ts";
import {
  historyKey,
  historyTable,
  runKey,
  runsTable,
  type StoredRun,
  type StoredStep,
  stepKey,
  stepsTable,
} from "./table.ts";
import { type KeptValue, valueWrite } from "./values.ts";

export type ConductDeps = EventDeps & Pick<Ports, "tables" | "bus"> & { readonly definitions: Definitions };

/** What an executor reports of a step: the conductor's input, and what is to be recorded of it. */
export interface StepReport {
  readonly attempt: number;
  readonly command: string;
  readonly output: string;
  readonly output_truncated: boolean;
  readonly output_lines: number;
  readonly duration_ms: number;
  readonly log_file: string;
  readonly exports: Readonly<Record<string, string>>;
  /** What templates may name from now on. */
  readonly values: Readonly<Record<string, KeptValue>>;
}

/** A message of the conduct queue. */
export interface ConductMessage {
  readonly run_id: string;
  readonly input: Input;
  readonly report?: StepReport;
}

/** Detail of `step.requested` on the bus. */
export interface StepCommand {
  readonly type: string;
  readonly run_id: string;
  readonly request: Request;
}

export const STEP_REQUESTED = "step.requested";
const TRIES_MAX = 20;

/**
 * Takes one input of a run: decides, and commits the new state, its history, the step's row, its values and
 * the events that tell of it together, on the condition that nobody moved the run meanwhile. An input that
 * comes twice changes nothing the second time and sends again what may have been lost.
 */
export async function conduct(deps: ConductDeps, message: ConductMessage): Promise<StoredRun | undefined> {
  for (let attempt = 0; attempt < TRIES_MAX; attempt += 1) {
    const run = await deps.tables.get(runsTable, runKey(message.run_id));
    if (run === undefined) {
      deps.log.warn("conduct: no such run", { run: message.run_id });
      return undefined;
    }
    if (isTerminal(run.status)) return run;
    const program = await programOf(deps, run);
    const decision = decide(program, run.state, message.input);
    if (decision.entries.length === 0) {
      await deps.bus.publish(decision.requests.map((request) => commandEntry(run.run_id, request)));
      return run;
    }
    const committed = await commitDecision(deps, run, program, decision, message);
    if (committed !== undefined) return committed;
    if (await isSuperseded(deps, message)) return run;
  }
  throw new Error("the run is contended");
}

/** The program of a run, from the revisions that it pinned. */
export async function programOf(deps: Pick<ConductDeps, "definitions">, run: StoredRun): Promise<Program> {
  const definitions = await Promise.all(
    run.modules.map((module) => deps.definitions.get(module.workflow, module.revision)),
  );
  return buildProgram(run.modules, definitions);
}

async function commitDecision(
  deps: ConductDeps,
  run: StoredRun,
  program: Program,
  decision: Decision,
  message: ConductMessage,
): Promise<StoredRun | undefined> {
  const now = deps.clock.now();
  const next = runAfter(run, decision.state, new Date(now).toISOString());
  const events = await composeEvents(deps, eventsOf(run, next, program, decision, message, now));
  const outcome = await deps.outbox.commit({
    writes: [
      { op: "put", table: runsTable, item: next, when: [["version", "=", run.version]] },
      {
        op: "put",
        table: historyTable,
        item: {
          ...historyKey(run.run_id, run.state.entries),
          at: next.updated_at,
          entries: decision.entries,
        },
      },
      ...resultWrites(run, decision, message, next.updated_at),
      ...closedSteps(run, next, program, message),
      ...events.writes,
    ],
    publish: [...decision.requests.map((request) => commandEntry(run.run_id, request)), ...events.publish],
  });
  if (!outcome.ok) return undefined;
  if (next.status === "failed") logFailedRun(deps, next);
  return next;
}

/** The alarm on failed runs counts these lines. */
export function logFailedRun(deps: Pick<Ports, "log">, run: StoredRun): void {
  deps.log.warn("run failed", { run: run.run_id, workflow: run.workflow_name, error: run.error_message });
}

function runAfter(run: StoredRun, state: RunState, now: string): StoredRun {
  const { active: _active, moved_at: _moved, ...rest } = run;
  const over = isTerminal(state.status);
  return {
    ...rest,
    status: state.status,
    state,
    version: run.version + 1,
    updated_at: now,
    started_at: run.started_at ?? (state.status === "running" || over ? now : null),
    completed_at: over ? now : null,
    completed_steps: state.done,
    error_message: state.status === "failed" ? (state.error ?? "") : "",
    ...(over ? {} : { active: "1", moved_at: now }),
  };
}

function commandEntry(runId: string, request: Request): BusEntry {
  const detail: StepCommand = { type: request.step_type, run_id: runId, request };
  return { source: COMMAND_SOURCE, detailType: STEP_REQUESTED, detail: { ...detail } };
}

/** The step's row and values, on the condition that the attempt that reports still holds the lease. */
function resultWrites(run: StoredRun, decision: Decision, message: ConductMessage, now: string): Write[] {
  const { input, report } = message;
  if (input.type !== "result" || report === undefined) return [];
  const entered = run.state.frames[input.key]?.phase === "enter" && input.status === "completed";
  const { status, error } = finishedEntry(decision, input.key) ?? input;
  return [
    {
      op: "update",
      table: stepsTable,
      key: stepKey(run.run_id, input.key),
      change: { set: entered ? enteredStep(input.dispatch) : stepResult(status, error, report, now) },
      when: [
        ["attempt", "=", report.attempt],
        ["dispatch", "=", input.dispatch],
      ],
    },
    ...Object.entries(report.values).map(([name, kept]) => valueWrite(run.run_id, name, kept)),
  ];
}

type FinishedEntry = Extract<HistoryEntry, { type: "step.finished" }>;

function finishedEntry(decision: Decision, key: string): FinishedEntry | undefined {
  return decision.entries.find(
    (entry): entry is FinishedEntry => entry.type === "step.finished" && entry.key === key,
  );
}

/** A container runs on while its children do. Its entry counts as answered: only a later request may take it. */
function enteredStep(dispatch: number) {
  return { dispatch: dispatch + 1, attempt: 0, leased_until: 0 } satisfies Partial<StoredStep>;
}

function stepResult(status: FinishedStatus, error: string | undefined, report: StepReport, now: string) {
  return {
    status,
    error_message: error ?? "",
    command: report.command,
    output: report.output,
    output_truncated: report.output_truncated,
    exports: report.exports,
    duration_ms: report.duration_ms,
    log_file: report.log_file,
    leased_until: 0,
    completed_at: now,
  } satisfies Partial<StoredStep>;
}

/** Steps that were under way when the run was ended from outside are closed with it. */
function closedSteps(run: StoredRun, next: StoredRun, program: Program, { input }: ConductMessage): Write[] {
  if (input.type !== "cancel" && input.type !== "fail") return [];
  const status = input.type === "cancel" ? "cancelled" : "failed";
  const error_message = input.type === "cancel" ? "cancelled" : input.error;
  const module = program.modules[run.state.module]?.name ?? "";
  return Object.entries(run.state.frames)
    .slice(0, CLOSED_WITH_RUN_MAX)
    .map(([key, frame]) => ({
      op: "update",
      table: stepsTable,
      key: stepKey(run.run_id, key),
      change: {
        set: { status, completed_at: next.updated_at, leased_until: 0, error_message },
        setIfMissing: newStepRow(
          run.run_id,
          key,
          frame.step,
          stepType(program, run, frame.step),
          module,
          next.updated_at,
        ),
      },
    }));
}

/** Rows closed in the transaction that ends their run, at most. */
const CLOSED_WITH_RUN_MAX = 60;

function stepType(program: Program, run: StoredRun, name: string): string {
  return program.modules[run.state.module]?.byName.get(name)?.type ?? "";
}

/** A step's row before anything is known of its end. */
export function newStepRow(
  runId: string,
  key: string,
  name: string,
  type: string,
  module: string,
  now: string,
) {
  return {
    id: `${runId}:${key}`,
    key,
    step_name: name,
    step_type: type,
    module,
    dispatch: 0,
    attempt: 0,
    owner: "",
    command: "",
    output: "",
    output_truncated: false,
    exports: {},
    duration_ms: 0,
    log_file: "",
    started_at: now,
    created_at: now,
  };
}

function eventsOf(
  run: StoredRun,
  next: StoredRun,
  program: Program,
  decision: Decision,
  message: ConductMessage,
  now: number,
): EventDraft[] {
  const drafts = runEvents(run, next, decision.entries, now);
  const { input, report } = message;
  if (input.type === "result" && report !== undefined && isOwnStep(run, input.key)) {
    const frame = run.state.frames[input.key];
    const step = frame === undefined ? undefined : program.modules[run.state.module]?.byName.get(frame.step);
    const finished = finishedEntry(decision, input.key);
    if (
      step !== undefined &&
      frame !== undefined &&
      finished !== undefined &&
      isLast(frame.phase, finished.status)
    ) {
      drafts.unshift(...stepEvent(run, step, finished, report));
    }
  }
  return drafts;
}

/** Items of a foreach are told of by the foreach, in one event. */
function isOwnStep(run: StoredRun, key: string): boolean {
  return !key.includes("#") && run.state.frames[key] !== undefined;
}

const isLast = (phase: string, status: FinishedStatus): boolean =>
  phase !== "enter" || status !== "completed";

/** A report that lost its lease to another attempt, or was recorded already. */
async function isSuperseded(deps: ConductDeps, message: ConductMessage): Promise<boolean> {
  const { input, report } = message;
  if (input.type !== "result" || report === undefined) return false;
  const row = await deps.tables.get(stepsTable, stepKey(message.run_id, input.key));
  return row === undefined || row.attempt !== report.attempt || row.dispatch !== input.dispatch;
}
