import { lstat } from "node:fs/promises";
import { composeEvents, type EventDeps } from "../../events/publish.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import { headKey, workflowsTable } from "../definitions/table.ts";
import { runKey, runsTable } from "../runs/table.ts";
import { matchOf, triggeredDraft } from "../schedules/match.ts";
import {
  type StoredSchedule,
  scheduleKey,
  schedulesTable,
  type TriggerState,
  triggerStateTable,
} from "../schedules/table.ts";
import type { RateBreaker } from "../triggers/breaker.ts";
import { countedFire } from "../triggers/fire-now.ts";
import { runIdOf } from "../triggers/matched-run.ts";
import { changeWrite, fileKey, stampOf } from "./seen.ts";

export type WatchDeps = EventDeps & Pick<Ports, "tables"> & { readonly breaker: RateBreaker };

const TRIES_MAX = 3;

/**
 * Fires a watch trigger for a file, once for each of its states: the event, the run that it starts and the state
 * that was seen are one transaction. Answers false where the trigger has fired too often, and may be asked again.
 */
export async function fireForFile(deps: WatchDeps, scheduleId: string, file: string): Promise<boolean> {
  const stats = await lstat(file).catch(() => undefined);
  if (stats?.isFile() !== true) return true;
  const stamp = stampOf(stats);
  for (let attempt = 0; attempt < TRIES_MAX; attempt += 1) {
    const before = await deps.tables.get(triggerStateTable, fileKey(scheduleId, file));
    if (before?.stamp === stamp) return true;
    const trigger = await triggerInUse(deps, scheduleId);
    if (trigger === undefined) return true;
    if (!(await deps.breaker.take(scheduleId))) return false;
    const hop = await hopOf(deps, before, stats.mtimeMs);
    const fire: Fire = {
      ...{ ...trigger, file, hop, change: before === undefined ? "new" : "changed" },
      seen: (run_id) => changeWrite(scheduleId, file, before, { stamp, run_id, hop }),
    };
    if (await commitFire(deps, fire)) return true;
  }
  return true;
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
  /** Runs that led to it. */
  readonly hop: number;
  /** That the run works in, where its schedule names none. */
  readonly workspace?: string;
  /** Keeps that the trigger has fired for it; the condition fails where somebody else was faster. */
  seen(runId: string): Write;
}

/** Answers false where a condition did not hold: what is to be fired is to be found out anew. */
export async function commitFire(deps: WatchDeps, fire: Fire): Promise<boolean> {
  const { schedule, revision, file, change, hop, workspace } = fire;
  const match = matchOf(schedule, revision, "watch");
  const watched = schedule.spec.type === "watch" ? schedule.spec.path : "";
  const data = { trigger_type: "watch" as const, schedule: watched, path: file, change };
  const draft = { ...triggeredDraft(schedule, data), hop, also: [match] };
  const { writes, publish, records } = await composeEvents(deps, [
    workspace === undefined ? draft : { ...draft, workspace },
  ]);
  const seen = fire.seen(runIdOf(records[0]?.event_id ?? "", match));
  const counted = countedFire(schedule, deps.clock.now());
  const outcome = await deps.outbox.commit({ writes: [seen, counted, ...writes], publish });
  return outcome.ok;
}

/** A file that was changed while the run worked that its last change had started was changed by that run. */
async function hopOf(
  deps: Pick<Ports, "tables">,
  before: TriggerState | undefined,
  mtimeMs: number,
): Promise<number> {
  if (before?.run_id === undefined) return 0;
  const run = await deps.tables.get(runsTable, runKey(before.run_id));
  if (run === undefined || mtimeMs < Date.parse(run.created_at)) return 0;
  const ended = run.completed_at === null ? Number.POSITIVE_INFINITY : Date.parse(run.completed_at);
  return mtimeMs <= ended ? (before.hop ?? 0) + 1 : 0;
}
