import { composeEvents, type EventDeps, emitEvents } from "../../events/publish.ts";
import type { BusEntry } from "../../platform/bus.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import { CONFLICT, retryOnConflict } from "../../retry-on-conflict.ts";
import { type Decision, decide, type Input, waiting } from "../engine/decide.ts";
import { isTerminal } from "../engine/history.ts";
import type { Program } from "../engine/program.ts";
import {
  CONDUCT_QUEUE,
  type ConductMessage,
  runFinishedKey,
  type StepEvents,
  type StepReport,
} from "../steps/messages.ts";
import type { CatalogReader } from "../store/catalog.ts";
import type { Definitions } from "../store/store.ts";
import type { StoredValueRef } from "../values/stored-values.ts";
import { valueKey, valuesTable } from "../values/table.ts";
import { workspaceChangedEntries } from "../workspaces/changed-event.ts";
import { workspaceKey, workspacesTable } from "../workspaces/table.ts";
import {
  type AdmissionDeps,
  type Admitted,
  admitAfterTransition,
  admitRun,
  releaseJobSlot,
  releaseWrites,
  wasAdmitted,
} from "./admission.ts";
import {
  applyDecision,
  applyWorkspaceChange,
  decisionEvents,
  type InputMessage,
  resultWrites,
} from "./apply-decision.ts";
import { keepRun, keptProgramOf, takeKeptRun } from "./kept-runs.ts";
import { inTurnOfRun } from "./run-turns.ts";
import { hasOwnRow, stepRow } from "./running-steps.ts";
import { canTransition } from "./status-transitions.ts";
import { commandEntries } from "./step-commands.ts";
import {
  historyKey,
  historyTable,
  isUnfinished,
  rootCauseOf,
  runKey,
  runsTable,
  type StoredRun,
  type StoredStep,
  stepsTable,
} from "./table.ts";

/** Maximum number of step rows that are closed in the transaction that ends their run. */
const CLOSED_WITH_RUN_MAX = 60;

/** Closes the running steps of a run that is cancelled or failed from outside, in the transaction that ends it. */
function closedSteps(run: StoredRun, next: StoredRun, program: Program, input: Input): Write[] {
  if (input.type !== "cancel" && input.type !== "fail") return [];
  const status = input.type === "cancel" ? "cancelled" : "failed";
  const error_message = input.type === "cancel" ? "cancelled" : input.error;
  const completed_at = next.updated_at;
  return Object.entries(run.state.frames)
    .filter(([key]) => hasOwnRow(key))
    .slice(0, CLOSED_WITH_RUN_MAX)
    .map(([key, frame]) => ({
      op: "put",
      table: stepsTable,
      item: closedRow(stepRow(run, program, key, frame), { status, error_message, completed_at }),
    }));
}

function closedRow(
  row: StoredStep,
  end: Pick<StoredStep, "status" | "error_message"> & { readonly completed_at: string },
): StoredStep {
  const duration_ms = Math.max(0, Date.parse(end.completed_at) - Date.parse(row.started_at));
  return { ...row, ...end, duration_ms };
}

export type ConductDeps = EventDeps &
  AdmissionDeps &
  Pick<Ports, "tables" | "bus" | "claims" | "timers"> & {
    readonly catalog: CatalogReader;
    readonly definitions: Definitions;
    readonly sharesWorkspaces: boolean;
    readonly undefinedNames: "empty" | "fail";
  };

/**
 * Handles a message for a run: an input that advances it, or events that one of its steps generated. A process handles
 * the messages of a run one after another.
 */
export function conduct(
  deps: ConductDeps,
  { run_id, input, report, events }: ConductMessage,
): Promise<StoredRun | undefined> {
  return inTurnOfRun(deps, run_id, async () => {
    if (events !== undefined) await recordEvents(deps, run_id, events);
    return input === undefined ? undefined : conductInput(deps, { run_id, input, report });
  });
}

/**
 * Handles one input of a run: decides, and commits the new state, the history, the step's row, its values and its
 * events in one transaction. The transaction fails if the run changed since it was read. A duplicate input changes
 * nothing and resends the messages that may have been lost.
 */
const conductInput = (deps: ConductDeps, message: InputMessage): Promise<StoredRun | undefined> =>
  retryOnConflict(() => tryToConduct(deps, message), {
    exceeded: () => new Error("too many conflicts at the run"),
  });

/** Decides from the run as it was committed last, if it is known: the commit fails if the run has changed since. */
async function tryToConduct(
  deps: ConductDeps,
  message: InputMessage,
): Promise<StoredRun | undefined | typeof CONFLICT> {
  const known = takeKeptRun(deps, message.run_id);
  if (known !== undefined) {
    const program = await keptProgramOf(deps, known);
    const decision = decide(program, known.state, message.input);
    if (decision.entries.length > 0) return tryToCommit(deps, known, program, decision, message);
  }
  const run = await deps.tables.get(runsTable, runKey(message.run_id));
  if (run === undefined) {
    deps.log.warn("conduct: the run does not exist", { run: message.run_id });
    return undefined;
  }
  if (isTerminal(run.status)) {
    await tellWatchesAgain(deps, run, message.report);
    return endSteps(deps, run);
  }
  const program = await keptProgramOf(deps, run);
  const decision = decide(program, run.state, message.input);
  if (decision.entries.length === 0) {
    // Not with a local outbox: to a process that has just started, a duplicate command would be the first.
    if (deps.outbox.atomic !== true)
      await deps.bus.publish(await commandEntries(deps, run, run.state, program, decision.requests));
    await tellWatchesAgain(deps, run, message.report);
    await setTimers(deps, run);
    return run;
  }
  return tryToCommit(deps, run, program, decision, message);
}

async function tryToCommit(
  deps: ConductDeps,
  run: StoredRun,
  program: Program,
  decision: Decision,
  message: InputMessage,
): Promise<StoredRun | typeof CONFLICT> {
  const admission = await admitRun(deps, run, message.input);
  if (admission.is === "waits") return run;
  if (admission.is === "changed") return CONFLICT;
  const commit = commitDecision(deps, run, program, decision, message, admission);
  const committed = await commit.catch((error: unknown) => forgetting(deps, admission.slot, error));
  if (committed === undefined) {
    deps.runSlots.forget(admission.slot);
    return CONFLICT;
  }
  return afterCommit(deps, run, committed, decision, admission);
}

/** The work that follows a committed decision. */
export async function afterCommit(
  deps: ConductDeps,
  run: StoredRun,
  committed: StoredRun,
  decision: Decision,
  { slot }: Admitted,
): Promise<StoredRun> {
  keepRun(deps, committed);
  if (decision.entries.some(({ type }) => type === "step.waits")) await setTimers(deps, committed);
  await admitAfterTransition(deps, run, committed, slot);
  return endSteps(deps, committed);
}

/** Sets the timers that retry waiting steps. Idempotent. */
export async function setTimers(deps: Pick<Ports, "timers">, { run_id, state }: StoredRun): Promise<void> {
  for (const { input, at } of waiting(state)) {
    const id = `retry:${run_id}:${input.dispatch}`;
    const body = JSON.stringify({ run_id, input } satisfies ConductMessage);
    await deps.timers.set(id, at, CONDUCT_QUEUE, { body, groupId: run_id, deduplicationId: id });
  }
}

/** After an error the slot may be free or taken, so the cached view of the slots is discarded. */
function forgetting(deps: AdmissionDeps, slot: number | undefined, error: unknown): never {
  deps.runSlots.forget(slot);
  throw error;
}

/**
 * Tells the executors that the run has ended, so that they stop its steps. Until then the run counts as active, so the
 * sweep finds it.
 */
export async function endSteps(
  deps: Pick<Ports, "claims" | "tables" | "outbox" | "clock" | "ids">,
  run: StoredRun,
): Promise<StoredRun> {
  if (!isTerminal(run.status) || !isUnfinished(run)) return run;
  await deps.claims.take(runFinishedKey(run.run_id));
  if (wasAdmitted(run)) return releaseJobSlot(deps, run);
  const updated = await deps.tables.update(
    runsTable,
    runKey(run.run_id),
    { remove: ["unfinished", "active", "moved_at"] },
    [["version", "=", run.version]],
  );
  return updated ?? run;
}

/** Records the events once: a duplicate message finds the item of the first one. */
async function recordEvents(deps: ConductDeps, runId: string, { id, drafts }: StepEvents): Promise<void> {
  await emitEvents(deps, drafts, {
    op: "put",
    table: valuesTable,
    item: { ...valueKey(runId, `#events:${id}`), json: "true" },
    when: [["pk", "missing"]],
  });
}

/** What is committed together with the first decision about a run. */
export interface Creation {
  /** The writes that create the run, without its row, and those that follow from its creation. */
  readonly writes: readonly Write[];
  readonly publish: readonly BusEntry[];
  /** Values of the run among the writes, by name. */
  readonly values: Readonly<Record<string, StoredValueRef>>;
}

/**
 * Commits a decision about a run; with `creation`, about a run that does not exist yet. Undefined if the run has changed,
 * or exists.
 */
export async function commitDecision(
  deps: ConductDeps,
  run: StoredRun,
  program: Program,
  decision: Decision,
  received: InputMessage,
  admission: Admitted,
  creation?: Creation,
): Promise<StoredRun | undefined> {
  const now = deps.clock.now();
  const message = withWholeTime(run, received, now);
  const next = applyDecision(
    run,
    decision.state,
    new Date(now).toISOString(),
    closes(message),
    admission.slot,
  );
  if (!canTransition(run.status, next.status))
    throw new Error(`a run cannot change from ${run.status} to ${next.status}`);
  const { state } = next;
  const files = await applyWorkspaceChange(deps, run, message.report);
  const commands = await commandEntries(deps, run, state, program, decision.requests, {
    values: creation?.values ?? message.report?.values ?? {},
    layers: files?.layers,
  });
  const writes: Write[] = [
    {
      op: "put",
      table: runsTable,
      item: next,
      when: [creation === undefined ? ["version", "=", run.version] : ["pk", "missing"]],
    },
    ...(creation?.writes ?? []),
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
    ...releaseWrites(run, next),
  ];
  const drafts = decisionEvents(run, next, program, decision, message, now);
  const events = await composeEvents(deps, drafts, writes.length);
  const outcome = await deps.outbox.commit({
    writes: [...writes, ...events.writes],
    publish: [
      ...(creation?.publish ?? []),
      ...commands,
      ...events.publish,
      ...(await forWatches(deps, run, message.report, files?.layers)),
    ],
  });
  if (!outcome.ok) return undefined;
  deps.recentEvents.add(events.records);
  if (next.status === "failed") logFailedRun(deps, next);
  return next;
}

/**
 * Returns the bus entries that notify watch triggers of changed files; none if the workspace does not contain the
 * layer.
 */
async function forWatches(
  deps: Pick<ConductDeps, "catalog">,
  run: StoredRun,
  report: StepReport | undefined,
  layers: readonly string[] = [],
): Promise<BusEntry[]> {
  const layer = report?.files?.layer;
  const at = layer === undefined ? -1 : layers.lastIndexOf(layer);
  if (layer === undefined || at < 0) return [];
  return workspaceChangedEntries(deps, {
    workspace: run.workspace,
    layer,
    earlier: layers.slice(0, at),
    hop: run.hop + 1,
    root_cause: rootCauseOf(run),
  });
}

/** Publishes the change again, since the first message may have been lost after the commit. Each trigger fires once. */
async function tellWatchesAgain(
  deps: ConductDeps,
  run: StoredRun,
  report: StepReport | undefined,
): Promise<void> {
  if (deps.outbox.atomic === true || report?.files?.layer === undefined) return;
  const workspace = await deps.tables.get(workspacesTable, workspaceKey(run.workspace));
  await deps.bus.publish(await forWatches(deps, run, report, workspace?.layers));
}

/** The duration of a container is measured from its start, not from the start of its `leave` phase. */
function withWholeTime(run: StoredRun, message: InputMessage, now: number): InputMessage {
  const { input, report } = message;
  if (input.type !== "result" || report === undefined) return message;
  const begun = run.begun[input.key];
  if (begun === undefined || run.state.frames[input.key]?.phase !== "leave") return message;
  return { ...message, report: { ...report, duration_ms: Math.max(0, now - Date.parse(begun)) } };
}

/** Whether an input ends a run from outside, possibly while steps are running. */
const closes = ({ input }: InputMessage): boolean => input.type === "cancel" || input.type === "fail";

/** The alarm on failed runs counts these lines. */
export function logFailedRun(deps: Pick<Ports, "log">, run: StoredRun): void {
  deps.log.warn("run failed", { run: run.run_id, workflow: run.workflow_name, error: run.error_message });
}
