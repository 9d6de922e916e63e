import { composeEvents, type EventDeps, type EventDraft, emitEvents } from "../../events/publish.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import type { Definitions } from "../definitions/store.ts";
import { type Decision, decide, type Input, waiting } from "../engine/decide.ts";
import { type FinishedStatus, type HistoryEntry, isTerminal, type RunState } from "../engine/history.ts";
import type { Program } from "../engine/program.ts";
import { stepAt } from "../engine/walk.ts";
import { withChange } from "../workspaces/layers.ts";
import { type StoredWorkspace, workspaceKey, workspacesTable } from "../workspaces/table.ts";
import {
  type Admission,
  type AdmissionDeps,
  admit,
  afterMove,
  hadTurn,
  leaveWrites,
  passOn,
} from "./admission.ts";
import { closedSteps } from "./closed-steps.ts";
import {
  CONDUCT_QUEUE,
  type ConductMessage,
  overMark,
  type StepEvents,
  type StepReport,
} from "./messages.ts";
import { mayReach } from "./moves.ts";
import { runEvents, stepEvent } from "./run-events.ts";
import { commandEntries } from "./step-commands.ts";
import { isOwn, programOf, stepRow } from "./steps-under-way.ts";
import {
  historyKey,
  historyTable,
  runKey,
  runsTable,
  type StoredRun,
  type StoredStep,
  stepsTable,
  valueKey,
  valuesTable,
} from "./table.ts";
import { valueWrite } from "./values.ts";

export type ConductDeps = EventDeps &
  AdmissionDeps &
  Pick<Ports, "tables" | "bus" | "claims" | "timers"> & {
    readonly definitions: Definitions;
    readonly sharesWorkspaces: boolean;
  };

const TRIES_MAX = 20;

/** Takes a message of a run: an input that moves it on, or events that one of its steps generated. */
export async function conduct(
  deps: ConductDeps,
  { run_id, input, report, events }: ConductMessage,
): Promise<StoredRun | undefined> {
  if (events !== undefined) await recordEvents(deps, run_id, events);
  return input === undefined ? undefined : conductInput(deps, { run_id, input, report });
}

interface InputMessage {
  readonly run_id: string;
  readonly input: Input;
  readonly report: StepReport | undefined;
}

/**
 * Takes one input of a run: decides, and commits the new state, its history, the step's row, its values and
 * the events that tell of it together, on the condition that nobody moved the run meanwhile. An input that
 * comes twice changes nothing the second time and sends again what may have been lost.
 */
async function conductInput(deps: ConductDeps, message: InputMessage): Promise<StoredRun | undefined> {
  for (let attempt = 0; attempt < TRIES_MAX; attempt += 1) {
    const run = await deps.tables.get(runsTable, runKey(message.run_id));
    if (run === undefined) {
      deps.log.warn("conduct: no such run", { run: message.run_id });
      return undefined;
    }
    if (isTerminal(run.status)) {
      return endSteps(deps, run);
    }
    const program = await programOf(deps, run);
    const decision = decide(program, run.state, message.input);
    if (decision.entries.length === 0) {
      // A second command for a step would be the first of its number to a process that has just started.
      if (deps.outbox.atomic !== true)
        await deps.bus.publish(await commandEntries(deps, run, run.state, program, decision.requests));
      await setTimers(deps, run);
      return run;
    }
    const admission = await admit(deps, run, message.input);
    if (admission.is === "waits") return run;
    if (admission.is === "changed") continue;
    const commit = commitDecision(deps, run, program, decision, message, admission);
    const committed = await commit.catch((error: unknown) => forgetting(deps, error));
    if (committed === undefined) {
      deps.runSlots.forget();
      continue;
    }
    if (decision.entries.some(({ type }) => type === "step.waits")) await setTimers(deps, committed);
    await afterMove(deps, run, committed, admission.slot);
    return endSteps(deps, committed);
  }
  throw new Error("the run is contended");
}

/** Sees that steps which wait to be tried again are told when their time comes; again does no harm. */
export async function setTimers(deps: Pick<Ports, "timers">, { run_id, state }: StoredRun): Promise<void> {
  for (const { input, at } of waiting(state)) {
    const id = `retry:${run_id}:${input.dispatch}`;
    const body = JSON.stringify({ run_id, input } satisfies ConductMessage);
    await deps.timers.set(id, at, CONDUCT_QUEUE, { body, groupId: run_id, deduplicationId: id });
  }
}

/** The place that the run was to have may be free or not. */
function forgetting(deps: AdmissionDeps, error: unknown): never {
  deps.runSlots.forget();
  throw error;
}

/**
 * Tells the executors of a run that was ended from outside that nobody waits for its steps any more. Until that
 * is done the run counts as active, and the sweep finds it.
 */
export async function endSteps(
  deps: Pick<Ports, "claims" | "tables" | "outbox" | "clock" | "ids">,
  run: StoredRun,
): Promise<StoredRun> {
  if (!isTerminal(run.status) || run.active === undefined) return run;
  await deps.claims.take(overMark(run.run_id));
  if (hadTurn(run)) return passOn(deps, run);
  const told = await deps.tables.update(runsTable, runKey(run.run_id), { remove: ["active", "moved_at"] }, [
    ["version", "=", run.version],
  ]);
  return told ?? run;
}

/** Once: a message that comes again finds its mark. */
async function recordEvents(deps: ConductDeps, runId: string, { id, drafts }: StepEvents): Promise<void> {
  await emitEvents(deps, drafts, {
    op: "put",
    table: valuesTable,
    item: { ...valueKey(runId, `#events:${id}`), json: "true" },
    when: [["pk", "missing"]],
  });
}

async function commitDecision(
  deps: ConductDeps,
  run: StoredRun,
  program: Program,
  decision: Decision,
  received: InputMessage,
  admission: Extract<Admission, { is: "in" }>,
): Promise<StoredRun | undefined> {
  const now = deps.clock.now();
  const message = withWholeTime(run, received, now);
  const next = runAfter(run, decision.state, new Date(now).toISOString(), closes(message), admission.slot);
  if (!mayReach(run.status, next.status))
    throw new Error(`a run cannot go from ${run.status} to ${next.status}`);
  const { state } = next;
  const files = await workspaceAfter(deps, run, message.report);
  const commands = await commandEntries(deps, run, state, program, decision.requests, {
    values: message.report?.values ?? {},
    layers: files?.layers,
  });
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
      ...resultWrites(run, program, decision, message, next.updated_at),
      ...(files === undefined ? [] : [files.write]),
      ...closedSteps(run, next, program, message.input),
      ...(isTerminal(next.status) ? [] : admission.writes),
      ...leaveWrites(run, next),
      ...events.writes,
    ],
    publish: [...commands, ...events.publish],
  });
  if (!outcome.ok) return undefined;
  if (next.status === "failed") logFailedRun(deps, next);
  return next;
}

/** A step that holds others took the time since it began, not that of leaving it alone. */
function withWholeTime(run: StoredRun, message: InputMessage, now: number): InputMessage {
  const { input, report } = message;
  if (input.type !== "result" || report === undefined) return message;
  const begun = run.begun[input.key];
  if (begun === undefined || run.state.frames[input.key]?.phase !== "leave") return message;
  return { ...message, report: { ...report, duration_ms: Math.max(0, now - Date.parse(begun)) } };
}

/** The layers of a run's workspace with what a step did to it, and the write that keeps them. */
async function workspaceAfter(
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

/** A run that is ended from outside: its steps may be under way. */
const closes = ({ input }: InputMessage): boolean => input.type === "cancel" || input.type === "fail";

/** The alarm on failed runs counts these lines. */
export function logFailedRun(deps: Pick<Ports, "log">, run: StoredRun): void {
  deps.log.warn("run failed", { run: run.run_id, workflow: run.workflow_name, error: run.error_message });
}

function runAfter(run: StoredRun, state: RunState, now: string, closed: boolean, slot = run.slot): StoredRun {
  const { active: _active, moved_at: _moved, slot: _slot, queued: _queued, ...rest } = run;
  const over = isTerminal(state.status);
  const stays = over && ((closed && Object.keys(run.state.frames).length > 0) || hadTurn(run));
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
      Object.keys(state.frames).flatMap((key) => (isOwn(key) ? [[key, run.begun[key] ?? now]] : [])),
    ),
    error_message: state.status === "failed" ? (state.error ?? "") : "",
    ...(over || slot === undefined ? {} : { slot }),
    ...(over && !stays ? {} : { active: "1", moved_at: now }),
  };
}

/** The row of a step that is done, and the values that it leaves. */
function resultWrites(
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
  if (frame === undefined || entered || !isOwn(input.key)) return values;
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

function eventsOf(
  run: StoredRun,
  next: StoredRun,
  program: Program,
  decision: Decision,
  message: InputMessage,
  now: number,
): EventDraft[] {
  const drafts = runEvents(run, next, decision.entries, now);
  const { input, report } = message;
  if (input.type === "result" && report !== undefined && isOwn(input.key)) {
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
