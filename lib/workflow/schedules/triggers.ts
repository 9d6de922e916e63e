import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import type { CronTrigger, Trigger } from "../definition/types.ts";
import { nextFire } from "./cron.ts";
import { type StoredSchedule, scheduleKey, schedulesTable } from "./table.ts";

/**
 * The writes that bring the stored schedules of a workflow in line with its triggers. One whose time did
 * not change keeps its next slot and its counts, so that storing a workflow again misses no fire.
 */
export async function scheduleWrites(
  deps: Pick<Ports, "tables" | "clock">,
  workflow: string,
  triggers: readonly Trigger[],
): Promise<Write[]> {
  const before = new Map((await schedulesOf(deps, workflow)).map((schedule) => [schedule.trigger, schedule]));
  const writes: Write[] = [];
  for (const trigger of triggers) {
    if (trigger.type !== "cron") continue;
    writes.push({ op: "put", table: schedulesTable, item: scheduleItem(deps, workflow, trigger, before.get(trigger.name)) });
    before.delete(trigger.name);
  }
  for (const left of before.values()) {
    writes.push({ op: "delete", table: schedulesTable, key: scheduleKey(workflow, left.trigger) });
  }
  return writes;
}

function scheduleItem(
  deps: Pick<Ports, "clock">,
  workflow: string,
  trigger: CronTrigger,
  before: StoredSchedule | undefined,
): StoredSchedule {
  const same =
    before?.expression === trigger.schedule && before.timezone === trigger.timezone && before.enabled === trigger.enabled;
  return {
    ...scheduleKey(workflow, trigger.name),
    schedule_id: `sch_${workflow}_${trigger.name}`,
    workflow,
    trigger: trigger.name,
    expression: trigger.schedule,
    timezone: trigger.timezone,
    enabled: trigger.enabled,
    next_run: same
      ? before.next_run
      : new Date(nextFire(trigger.schedule, trigger.timezone, deps.clock.now())).toISOString(),
    last_run: before?.last_run ?? null,
    run_count: before?.run_count ?? 0,
    ...(trigger.enabled ? { due: "1" } : {}),
  };
}

export async function schedulesOf(deps: Pick<Ports, "tables">, workflow: string): Promise<StoredSchedule[]> {
  return (await deps.tables.query(schedulesTable, { pk: workflow })).items;
}
