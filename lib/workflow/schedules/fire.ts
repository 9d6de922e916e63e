import { composeEvents, type EventDeps } from "../../events/publish.ts";
import type { TopicData } from "../../events/topics.ts";
import type { Ports } from "../../platform/ports.ts";
import { headKey, workflowsTable } from "../definitions/table.ts";
import { countFires, nextFire, previousFire } from "./cron.ts";
import { type StoredSchedule, schedulesTable } from "./table.ts";

/** Missed slots that are counted; more are told as this many. */
const MISSED_MAX = 10_000;
const PAGE = 200;

/**
 * Fires every schedule whose slot is due: one `schedule.triggered` event that starts its workflow, committed
 * with the schedule's move to the next slot, so a slot fires once whoever else is firing. Slots missed while
 * nobody was there make one catch-up run, and the event tells how many they were.
 */
export async function fireDue(deps: EventDeps & Pick<Ports, "tables">): Promise<number> {
  const now = deps.clock.now();
  let fired = 0;
  let cursor: string | undefined;
  do {
    const page = await deps.tables.query(schedulesTable, {
      index: "due",
      pk: "1",
      sk: { to: new Date(now).toISOString() },
      limit: PAGE,
      ...(cursor === undefined ? {} : { cursor }),
    });
    for (const schedule of page.items) if (await fire(deps, schedule, now)) fired += 1;
    cursor = page.cursor;
  } while (cursor !== undefined);
  return fired;
}

async function fire(
  deps: EventDeps & Pick<Ports, "tables">,
  schedule: StoredSchedule,
  now: number,
): Promise<boolean> {
  const due = Date.parse(schedule.next_run);
  if (due > now) return false;
  const slot = Math.max(due, previousFire(schedule.expression, schedule.timezone, now) ?? due);
  const missed =
    slot === due ? 0 : countFires(schedule.expression, schedule.timezone, due - 1, slot - 1, MISSED_MAX);
  const next = nextFire(schedule.expression, schedule.timezone, now);
  const head = await deps.tables.get(workflowsTable, headKey(schedule.workflow));
  const data: TopicData<"schedule.triggered"> = {
    schedule_id: schedule.schedule_id,
    trigger_type: "cron",
    schedule: schedule.expression,
    slot: new Date(slot).toISOString(),
    missed,
  };
  const match = { workflow: schedule.workflow, trigger: schedule.trigger, revision: head?.revision ?? 0 };
  const events = await composeEvents(deps, [
    {
      topic: "schedule.triggered",
      name: `${schedule.trigger}-triggered`,
      source: "scheduler",
      data_type: "schedule",
      workflow_name: schedule.workflow,
      data,
      also: head === undefined || head.deleted ? [] : [match],
    },
  ]);
  if (missed > 0) deps.log.warn("missed schedule caught up", { schedule: schedule.schedule_id, missed });
  const outcome = await deps.outbox.commit({
    writes: [
      {
        op: "update",
        table: schedulesTable,
        key: { pk: schedule.pk, sk: schedule.sk },
        change: {
          set: { next_run: new Date(next).toISOString(), last_run: new Date(slot).toISOString() },
          add: { run_count: 1 },
        },
        when: [
          ["next_run", "=", schedule.next_run],
          ["due", "=", "1"],
        ],
      },
      ...events.writes,
    ],
    publish: events.publish,
  });
  return outcome.ok;
}
