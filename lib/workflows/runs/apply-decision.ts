import type { EventDraft } from "../../events/publish.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import type { Decision, Input } from "../engine/decide.ts";
import { type FinishedStatus, type HistoryEntry, isTerminal, type RunState } from "../engine/history.ts";
import type { Program } from "../engine/program.ts";
import { stepAt } from "../engine/walk.ts";
import type { StepReport } from "../steps/messages.ts";
import { valueWrite } from "../values/stored-values.ts";
import { withChange } from "../workspaces/layers.ts";
import { type StoredWorkspace, workspaceKey, workspacesTable } from "../workspaces/table.ts";
import { wasAdmitted } from "./admission.ts";
import { runEvents, stepEvent } from "./run-events.ts";
import { hasOwnRow, stepRow } from "./running-steps.ts";
import { type StoredRun, type StoredStep, stepsTable, unfinishedPartition } from "./table.ts";

export interface InputMessage {
  readonly run_id: string;
  readonly input: Input;
  readonly report: StepReport | undefined;
}

/** The layers of a run's workspace after a step changed it, and the write that stores them. */
export async function applyWorkspaceChange(
  deps: Pick<Ports, "tables">,
  { workspace }: StoredRun,
  report: StepReport | undefined,
): Promise<{ layers: readonly string[]; write: Write } | undefined> {
  if (report?.files === undefined) return undefined;
  const key = workspaceKey(workspace);
  const before = await deps.tables.get(workspacesTable, key);
  const layers = withChange(before?.layers ?? [], report.files);
  const item: StoredWorkspace = { ...key, layers, version: (before?.version ?? 0) + 1 };
  return {
    layers,
    write: {
      op: "put",
      table: workspacesTable,
      item,
      when: [before === undefined ? ["pk", "missing"] : ["version", "=", before.version]],
    },
  };
}

/**
 * Precision of the time of a run's last change, milliseconds: setting it with every decision would write to its index
 * each time.
 */
const MOVED_EVERY_MS = 20_000;

function movedAt({ status, moved_at }: StoredRun, now: string, isOver: boolean): string {
  const age = moved_at === undefined ? Number.POSITIVE_INFINITY : Date.parse(now) - Date.parse(moved_at);
  return moved_at === undefined || status === "pending" || isOver || age < 0 || age >= MOVED_EVERY_MS
    ? now
    : moved_at;
}

/** Returns the run after a decision. */
export function applyDecision(
  run: StoredRun,
  state: RunState,
  now: string,
  closed: boolean,
  slot = run.slot,
): StoredRun {
  const { active: _, unfinished: _unfinished, moved_at: _moved, slot: _slot, queued: _queued, ...rest } = run;
  const over = isTerminal(state.status);
  const stays = over && ((closed && Object.keys(run.state.frames).length > 0) || wasAdmitted(run));
  return {
    ...rest,
    status: state.status,
    state,
    version: run.version + 1,
    updated_at: now,
    started_at: run.started_at ?? (state.status === "running" || over ? now : null),
    completed_at: over ? now : null,
    completed_steps: state.status === "completed" ? run.total_steps : Math.min(state.done, run.total_steps),
    begun: Object.fromEntries(
      Object.keys(state.frames).flatMap((key) => (hasOwnRow(key) ? [[key, run.begun[key] ?? now]] : [])),
    ),
    error_message: state.status === "failed" ? (state.error ?? "") : "",
    ...(over || slot === undefined ? {} : { slot }),
    ...(over && !stays
      ? {}
      : { unfinished: unfinishedPartition(run.run_id), moved_at: movedAt(run, now, over) }),
  };
}

/** Returns the writes of a finished step: its row and its values. */
export function resultWrites(
  run: StoredRun,
  program: Program,
  decision: Decision,
  { input, report }: InputMessage,
  now: string,
): Write[] {
  if (input.type !== "result" || report === undefined) return [];
  const frame = run.state.frames[input.key];
  const entered = frame?.phase === "enter" && input.status === "completed";
  const { status, error } = finishedEntry(decision, input.key) ?? input;
  const values = Object.entries(report.values).map(([name, kept]) => valueWrite(run.run_id, name, kept));
  if (frame === undefined || entered || !hasOwnRow(input.key)) return values;
  const begun = Date.parse(now) - report.duration_ms;
  const item: StoredStep = {
    ...stepRow(run, program, input.key, frame),
    status,
    error_message: error ?? "",
    attempt: report.attempt,
    command: report.command,
    output: report.output,
    output_truncated: report.output_truncated,
    exports: report.exports,
    environment: report.environment ?? {},
    duration_ms: report.duration_ms,
    log_file: report.log_file,
    started_at: frame.phase === "leave" ? (run.begun[input.key] ?? now) : new Date(begun).toISOString(),
    completed_at: now,
  };
  return [{ op: "put", table: stepsTable, item }, ...values];
}

type FinishedEntry = Extract<HistoryEntry, { type: "step.finished" }>;

function finishedEntry(decision: Decision, key: string): FinishedEntry | undefined {
  return decision.entries.find(
    (entry): entry is FinishedEntry => entry.type === "step.finished" && entry.key === key,
  );
}

/** Returns the events of a decision: those of the run and those of its step. */
export function decisionEvents(
  run: StoredRun,
  next: StoredRun,
  program: Program,
  decision: Decision,
  message: InputMessage,
  now: number,
): EventDraft[] {
  const drafts = runEvents(run, next, decision.entries, now);
  const { input, report } = message;
  if (input.type === "result" && report !== undefined && hasOwnRow(input.key)) {
    const frame = run.state.frames[input.key];
    const step = frame === undefined ? undefined : stepAt(program, frame);
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

const isLast = (phase: string, status: FinishedStatus): boolean =>
  phase !== "enter" || status !== "completed";
