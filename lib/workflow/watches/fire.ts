import { lstat } from "node:fs/promises";
import { composeEvents, type EventDeps } from "../../events/publish.ts";
import type { Ports } from "../../platform/ports.ts";
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
    const schedule = await deps.tables.get(schedulesTable, scheduleKey(scheduleId));
    if (schedule?.enabled !== true || schedule.spec.type !== "watch") return true;
    const head = await deps.tables.get(workflowsTable, headKey(schedule.workflow));
    if (head === undefined || head.deleted) return true;
    if (!(await deps.breaker.take(scheduleId))) return false;
    const change = { schedule, revision: head.revision, file, stamp, mtimeMs: stats.mtimeMs, before };
    if (await commitFire(deps, change)) return true;
  }
  return true;
}

interface FileChange {
  readonly schedule: StoredSchedule;
  readonly revision: number;
  readonly file: string;
  readonly stamp: string;
  readonly mtimeMs: number;
  readonly before: TriggerState | undefined;
}

async function commitFire(deps: WatchDeps, change: FileChange): Promise<boolean> {
  const { schedule, file, before } = change;
  const match = matchOf(schedule, change.revision, "watch");
  const hop = await hopOf(deps, change);
  const data = {
    trigger_type: "watch" as const,
    schedule: schedule.spec.type === "watch" ? schedule.spec.path : "",
    path: file,
    change: before === undefined ? ("new" as const) : ("changed" as const),
  };
  const { writes, publish, records } = await composeEvents(deps, [
    {
      ...triggeredDraft(schedule, data),
      hop,
      also: [match],
    },
  ]);
  const eventId = records[0]?.event_id ?? "";
  const run_id = runIdOf(eventId, match);
  const seen = changeWrite(schedule.schedule_id, file, before, { stamp: change.stamp, run_id, hop });
  const counted = countedFire(schedule, deps.clock.now());
  const outcome = await deps.outbox.commit({ writes: [seen, counted, ...writes], publish });
  return outcome.ok;
}

/** A file that was changed while the run worked that its last change had started was changed by that run. */
async function hopOf(deps: WatchDeps, { before, mtimeMs }: FileChange): Promise<number> {
  if (before?.run_id === undefined) return 0;
  const run = await deps.tables.get(runsTable, runKey(before.run_id));
  if (run === undefined || mtimeMs < Date.parse(run.created_at)) return 0;
  const ended = run.completed_at === null ? Number.POSITIVE_INFINITY : Date.parse(run.completed_at);
  return mtimeMs <= ended ? (before.hop ?? 0) + 1 : 0;
}
