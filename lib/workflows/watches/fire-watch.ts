import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { type Cause, composeEvents, EVENT_HOPS_MAX, type EventDeps } from "../../events/publish.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import { rootCauseOf, runKey, runsTable } from "../runs/table.ts";
import type { StepActivity, StepSpan } from "../steps/step-activity.ts";
import { headKey, workflowsTable } from "../store/table.ts";
import {
  type StoredSchedule,
  scheduleKey,
  schedulesTable,
  type TriggerState,
  triggerStateTable,
} from "../store/trigger-tables.ts";
import { runIdOf } from "../triggers/matched-run.ts";
import type { RateBreaker } from "../triggers/rate-breaker.ts";
import { fireCountWrite } from "../triggers/start-triggered-run.ts";
import { matchOf, scheduleTriggeredDraft } from "../triggers/triggered-event.ts";
import { fileStateKey, fileStateWrite, stampOf } from "./file-states.ts";
import { isWithin } from "./path-pattern.ts";

export type WatchDeps = EventDeps &
  Pick<Ports, "tables"> & {
    readonly breaker: RateBreaker;
    readonly stepActivity?: StepActivity;
    readonly workspacesDir?: string;
  };

const TRIES_MAX = 3;

/** What a watch knows of a file that its stamp does not say. */
export interface FileHistory {
  /** Steps that were executed on this machine when the file was last changed. */
  readonly writers: readonly StepSpan[];
  /** Whether another file came since, while no step of the root cause was executed. */
  isFedFromOutside(rootCause: string): boolean;
}

const UNKNOWN_HISTORY: FileHistory = { writers: [], isFedFromOutside: () => false };

/** How long nothing of a root cause must have been executed before its loop is cut, milliseconds. */
const QUIET_MS = 2_000;
/** Runs that may have written one file, at most. */
const WRITERS_MAX = 50;

/**
 * Fires a watch trigger for a file, once for each of its states: the event, the run that it starts and the state
 * that was seen are one transaction. Answers when it is to be asked again: `later` where the trigger has fired too
 * often, `soon` while it is open whether runs write these files, or somebody else does while they work.
 */
export async function fireWatch(
  deps: WatchDeps,
  scheduleId: string,
  file: string,
  history: FileHistory = UNKNOWN_HISTORY,
): Promise<"done" | "soon" | "later"> {
  const stats = await lstat(file).catch(() => undefined);
  if (stats?.isFile() !== true) return "done";
  const stamp = stampOf(stats);
  for (let attempt = 0; attempt < TRIES_MAX; attempt += 1) {
    const before = await deps.tables.get(triggerStateTable, fileStateKey(scheduleId, file));
    if (before?.stamp === stamp) return "done";
    const trigger = await triggerInUse(deps, scheduleId);
    if (trigger === undefined) return "done";
    const supposed = strongest(
      await causeOf(deps, before, stats.mtimeMs),
      await writerOf(deps, trigger.schedule, file, history),
    );
    const cause = provenCause(deps, supposed, history);
    if (cause === undefined) return "soon";
    if (!(await deps.breaker.take(scheduleId))) return "later";
    const fire: Fire = {
      ...{ ...trigger, file, cause, change: before === undefined ? "new" : "changed" },
      seen: (run_id) => fileStateWrite(scheduleId, file, before, { stamp, run_id, ...cause }),
    };
    if (await commitFire(deps, fire)) return "done";
  }
  return "done";
}

const strongest = (one: Cause, other: Cause): Cause => ((one.hop ?? 0) >= (other.hop ?? 0) ? one : other);

/**
 * A chain that is to be cut may be no loop: somebody else may fill the folder while its runs work. So the file waits
 * until they are over, and counts as one from outside if further files came by then. Undefined while that is open.
 */
function provenCause(deps: WatchDeps, cause: Cause, history: FileHistory): Cause | undefined {
  const { hop = 0, root_cause } = cause;
  if (hop <= EVENT_HOPS_MAX || root_cause === undefined || history.writers.length === 0) return cause;
  const last = deps.stepActivity?.lastOf(root_cause) ?? 0;
  if (deps.clock.now() < last + QUIET_MS) return undefined;
  return history.isFedFromOutside(root_cause) ? NO_CAUSE : cause;
}

/**
 * The run that a file is taken to be written by: one that was executing a step when it was changed, and in whose
 * workspace it lies, or else one that a watch or another run has started.
 */
async function writerOf(
  deps: WatchDeps,
  schedule: StoredSchedule,
  file: string,
  { writers }: FileHistory,
): Promise<Cause> {
  const ids = [...new Set(writers.map(({ run_id }) => run_id))].slice(0, WRITERS_MAX);
  if (ids.length === 0) return NO_CAUSE;
  const runs = await deps.tables.batchGet(runsTable, ids.map(runKey));
  const { workspacesDir } = deps;
  const inside = runs.filter(
    ({ workspace }) => workspacesDir !== undefined && isWithin(file, join(workspacesDir, workspace)),
  );
  const chained = runs.filter(({ trigger_type, hop }) => trigger_type === "watch" || hop > 0);
  const own = chained.filter(
    (run) => run.workflow_name === schedule.workflow && run.trigger_name === schedule.trigger,
  );
  const likely = [inside, own, chained].find(({ length }) => length > 0) ?? [];
  const [writer] = likely.toSorted((one, other) => one.hop - other.hop);
  return writer === undefined ? NO_CAUSE : { hop: writer.hop + 1, root_cause: rootCauseOf(writer) };
}

interface TriggerInUse {
  readonly schedule: StoredSchedule;
  /** Of its workflow. */
  readonly revision: number;
}

/** Undefined where the watch trigger is off, or gone. */
export async function triggerInUse(
  deps: Pick<Ports, "tables">,
  scheduleId: string,
): Promise<TriggerInUse | undefined> {
  const schedule = await deps.tables.get(schedulesTable, scheduleKey(scheduleId));
  if (schedule?.enabled !== true || schedule.spec.type !== "watch") return undefined;
  const head = await deps.tables.get(workflowsTable, headKey(schedule.workflow));
  return head === undefined || head.deleted ? undefined : { schedule, revision: head.revision };
}

export interface Fire extends TriggerInUse {
  /** What the run calls it. */
  readonly file: string;
  readonly change: "new" | "changed";
  readonly cause: Cause;
  /** That the run works in, where its schedule names none. */
  readonly workspace?: string;
  /** Keeps that the trigger has fired for it; the condition fails where somebody else was faster. */
  seen(runId: string): Write;
}

/** Answers false where a condition did not hold: what is to be fired is to be found out anew. */
export async function commitFire(deps: WatchDeps, fire: Fire): Promise<boolean> {
  const { schedule, revision, file, change, cause, workspace } = fire;
  const match = matchOf(schedule, revision, "watch");
  const watched = schedule.spec.type === "watch" ? schedule.spec.path : "";
  const data = { trigger_type: "watch" as const, schedule: watched, path: file, change };
  const draft = { ...scheduleTriggeredDraft(schedule, data), ...cause, also: [match] };
  const { writes, publish, records } = await composeEvents(deps, [
    workspace === undefined ? draft : { ...draft, workspace },
  ]);
  const seen = fire.seen(runIdOf(records[0]?.event_id ?? "", match));
  const counted = fireCountWrite(schedule, deps.clock.now());
  const outcome = await deps.outbox.commit({ writes: [seen, counted, ...writes], publish });
  return outcome.ok;
}

/** A file that was changed while the run worked that its last change had started was changed by that run. */
async function causeOf(
  deps: Pick<Ports, "tables">,
  before: TriggerState | undefined,
  mtimeMs: number,
): Promise<Cause> {
  if (before?.run_id === undefined) return NO_CAUSE;
  const run = await deps.tables.get(runsTable, runKey(before.run_id));
  if (run === undefined || mtimeMs < Date.parse(run.created_at)) return NO_CAUSE;
  const ended = run.completed_at === null ? Number.POSITIVE_INFINITY : Date.parse(run.completed_at);
  return mtimeMs <= ended ? { hop: (before.hop ?? 0) + 1, root_cause: rootCauseOf(run) } : NO_CAUSE;
}

const NO_CAUSE: Cause = { hop: 0 };
