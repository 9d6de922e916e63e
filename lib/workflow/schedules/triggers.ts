import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import type { CronTrigger, Trigger } from "../definition/types.ts";
import { nextFire } from "./cron.ts";
import { type StoredSchedule, scheduleKey, schedulesTable } from "./table.ts";

/**
 * The writes that bring the stored schedules of a workflow in line with its triggers. One whose time did
 * not change is left alone: it misses no fire, and one that fires meanwhile is not set back to its old slot.
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
    const known = before.get(trigger.name);
    before.delete(trigger.name);
    if (known !== undefined && isSame(known, trigger)) continue;
    writes.push({ op: "put", table: schedulesTable, item: scheduleItem(deps, workflow, trigger, known) });
  }
  for (const left of before.values()) {
    writes.push({ op: "delete", table: schedulesTable, key: scheduleKey(workflow, left.trigger) });
  }
  return writes;
}

/** The writes that take away all stored schedules of a workflow. */
export async function scheduleRemovals(deps: Pick<Ports, "tables">, workflow: string): Promise<Write[]> {
  return (await schedulesOf(deps, workflow)).map(({ trigger }) => ({
    op: "delete",
    table: schedulesTable,
    key: scheduleKey(workflow, trigger),
  }));
}

function isSame(schedule: StoredSchedule, trigger: CronTrigger): boolean {
  return (
    schedule.expression === trigger.schedule &&
    schedule.timezone === trigger.timezone &&
    schedule.enabled === trigger.enabled
  );
}

function scheduleItem(
  deps: Pick<Ports, "clock">,
  workflow: string,
  trigger: CronTrigger,
  before: StoredSchedule | undefined,
): StoredSchedule {
  return {
    ...scheduleKey(workflow, trigger.name),
    schedule_id: `sch_${workflow}_${trigger.name}`,
    workflow,
    trigger: trigger.name,
    expression: trigger.schedule,
    timezone: trigger.timezone,
    enabled: trigger.enabled,
    next_run: new Date(nextFire(trigger.schedule, trigger.timezone, deps.clock.now())).toISOString(),
    last_run: before?.last_run ?? null,
    run_count: before?.run_count ?? 0,
    ...(trigger.enabled ? { due: "1" } : {}),
  };
}

export async function schedulesOf(deps: Pick<Ports, "tables">, workflow: string): Promise<StoredSchedule[]> {
  return (await deps.tables.query(schedulesTable, { pk: workflow })).items;
}
