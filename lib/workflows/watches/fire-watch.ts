import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { type Cause, composeEvents, EVENT_HOPS_MAX, type EventDeps } from "../../events/publish.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import { CONFLICT, retryOnConflict } from "../../retry-on-conflict.ts";
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

/** The history of a watched file that its stamp does not contain. */
export interface FileHistory {
  /** Steps that ran on this machine when the file last changed. */
  readonly writers: readonly StepSpan[];
  /** Whether another file appeared since, while no step of the root cause ran. */
  isFedFromOutside(rootCause: string): boolean;
}

const UNKNOWN_HISTORY: FileHistory = { writers: [], isFedFromOutside: () => false };

/** Time without steps of a root cause before its loop is stopped, milliseconds. */
const QUIET_MS = 2_000;
/** Runs considered as writers of a file. */
const WRITERS_MAX = 50;

/**
 * Fires a watch trigger for a file, once per state: the event, its run and the stored state are one transaction. Returns
 * when to call again: `later` if the trigger reached its rate limit, `soon` while it is undecided whether the runs
 * themselves write these files.
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
  const tryToFire = async () => {
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
      ...trigger,
      file,
      cause,
      change: before === undefined ? "new" : "changed",
      seen: (run_id) => fileStateWrite(scheduleId, file, before, { stamp, run_id, ...cause }),
    };
    return (await commitFire(deps, fire)) ? "done" : CONFLICT;
  };
  return retryOnConflict(tryToFire, { exceeded: () => tooManyConflicts(scheduleId) });
}

export const tooManyConflicts = (scheduleId: string): Error =>
  new Error(`too many conflicts while firing ${scheduleId}`);

const strongest = (one: Cause, other: Cause): Cause => ((one.hop ?? 0) >= (other.hop ?? 0) ? one : other);

/**
 * A chain that exceeds the hop limit is not always a loop: another program may fill the folder while the runs work. The
 * file waits until they end, and counts as written from outside if further files appeared by then. Undefined while that
 * is undecided.
 */
function provenCause(deps: WatchDeps, cause: Cause, history: FileHistory): Cause | undefined {
  const { hop = 0, root_cause } = cause;
  if (hop <= EVENT_HOPS_MAX || root_cause === undefined || history.writers.length === 0) return cause;
  const last = deps.stepActivity?.lastOf(root_cause) ?? 0;
  if (deps.clock.now() < last + QUIET_MS) return undefined;
  return history.isFedFromOutside(root_cause) ? NO_CAUSE : cause;
}

/**
 * The run that probably wrote a file: one that was executing a step when the file changed and whose workspace contains
 * it, else one that a watch or another run started.
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

/** Undefined if the watch trigger is disabled or deleted. */
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
  /** The file's path in the run. */
  readonly file: string;
  readonly change: "new" | "changed";
  readonly cause: Cause;
  /** Workspace of the run if its schedule names none. */
  readonly workspace?: string;
  /** Stores that the trigger fired for the file; the condition fails if another process was faster. */
  seen(runId: string): Write;
}

/** Returns false if a condition failed: the caller reads the state again. */
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

/** A file that changed during the run that its previous change started was changed by that run. */
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
