import { composeEvents, type EventDeps } from "../../events/publish.ts";
import type { Ports } from "../../platform/ports.ts";
import { countFires, nextFire, previousFire } from "../cron/cron.ts";
import { headKey, workflowsTable } from "../store/table.ts";
import { type StoredSchedule, schedulesTable } from "../store/trigger-tables.ts";
import { matchOf, scheduleTriggeredDraft } from "../triggers/triggered-event.ts";

/** Highest number of missed slots that an event reports. */
const MISSED_MAX = 10_000;
/** Missed slots that `misfire: all` catches up with, the latest ones. */
const CAUGHT_UP_MAX = 100;
/** A slot within this time was not missed: in AWS the sweep runs every minute, milliseconds. */
const LATE_MS = 150_000;
const PAGE = 200;

type FireDeps = EventDeps & Pick<Ports, "tables">;

/**
 * Fires every schedule whose slot is due: one `schedule.triggered` event starts its workflow and is committed with the
 * schedule's next slot, so a slot fires once even if several processes fire. Slots that were missed while no server ran
 * start one catch-up run, and the event has their number; with `misfire: none` they start none, with `all` each of the
 * last hundred starts one.
 */
export async function fireDueSchedules(deps: FireDeps): Promise<number> {
  const now = deps.clock.now();
  let fired = 0;
  let failure: unknown;
  let cursor: string | undefined;
  do {
    const page = await deps.tables.query(schedulesTable, {
      index: "due",
      pk: "1",
      sk: { to: new Date(now).toISOString() },
      limit: PAGE,
      ...(cursor === undefined ? {} : { cursor }),
    });
    for (const schedule of page.items) {
      try {
        fired += await fire(deps, schedule, now);
      } catch (error) {
        // A failure does not delay other schedules.
        deps.log.error("firing a schedule failed", { schedule: schedule.schedule_id, error });
        failure ??= error;
      }
    }
    cursor = page.cursor;
  } while (cursor !== undefined);
  if (failure !== undefined) throw failure;
  return fired;
}

/** The slot to fire, the number of missed slots before it, and the next slot. */
interface Slot {
  /** Undefined if no slot is due. */
  readonly at: number | undefined;
  readonly missed: number;
  readonly next: number;
}

async function fire(deps: FireDeps, schedule: StoredSchedule, now: number): Promise<number> {
  if (schedule.next_run === undefined || Date.parse(schedule.next_run) > now) return 0;
  const head = await deps.tables.get(workflowsTable, headKey(schedule.workflow));
  const revision = head === undefined || head.deleted ? undefined : head.revision;
  let fired = 0;
  let due = schedule.next_run;
  for (const slot of slotsOf(schedule, Date.parse(due), now)) {
    const next = new Date(slot.next).toISOString();
    const fires = revision !== undefined && slot.at !== undefined;
    const outcome = fires
      ? await fireSlot(deps, schedule, { at: slot.at, missed: slot.missed, due, next, revision })
      : await passOver(deps, schedule, due, next, revision);
    if (!outcome.ok) break;
    if (fires) fired += 1;
    due = next;
  }
  return fired;
}

function slotsOf({ expression, timezone, spec }: StoredSchedule, due: number, now: number): Slot[] {
  const next = nextFire(expression, timezone, now);
  const last = Math.max(due, previousFire(expression, timezone, now) ?? due);
  const missedBefore = (slot: number): number =>
    slot === due ? 0 : countFires(expression, timezone, due - 1, slot - 1, MISSED_MAX);
  const misfire = (spec.type === "cron" ? spec.misfire : undefined) ?? "last";
  if (misfire === "none" && now - last > LATE_MS) return [{ at: undefined, missed: 0, next }];
  if (misfire === "none") return [{ at: last, missed: 0, next }];
  if (misfire === "last") return [{ at: last, missed: missedBefore(last), next }];
  const times = [last];
  while (times.length < CAUGHT_UP_MAX) {
    const before = previousFire(expression, timezone, (times[0] ?? due) - 1);
    if (before === undefined || before < due) break;
    times.unshift(before);
  }
  return times.map((at, index) => ({
    at,
    missed: index === 0 ? missedBefore(at) : 0,
    next: times[index + 1] ?? next,
  }));
}

interface Firing {
  readonly at: number;
  readonly missed: number;
  readonly due: string;
  readonly next: string;
  readonly revision: number;
}

async function fireSlot(deps: FireDeps, schedule: StoredSchedule, firing: Firing) {
  const slot = new Date(firing.at).toISOString();
  const data = {
    trigger_type: "cron" as const,
    schedule: schedule.expression,
    slot,
    missed: firing.missed,
  };
  const events = await composeEvents(deps, [
    {
      ...scheduleTriggeredDraft(schedule, data),
      also: [matchOf(schedule, firing.revision, "cron")],
    },
  ]);
  if (firing.missed > 0)
    deps.log.warn("fired a missed schedule", { schedule: schedule.schedule_id, missed: firing.missed });
  return deps.outbox.commit({
    writes: [
      {
        op: "update",
        table: schedulesTable,
        key: { pk: schedule.pk, sk: schedule.sk },
        change: { set: { next_run: firing.next, last_run: slot, error: "" }, add: { run_count: 1 } },
        when: stillDue(firing.due),
      },
      ...events.writes,
    ],
    publish: events.publish,
  });
}

/** A slot that starts nothing: it was missed and is not caught up with, or its workflow was deleted. */
function passOver(
  deps: FireDeps,
  schedule: StoredSchedule,
  due: string,
  next: string,
  revision: number | undefined,
) {
  const error = revision === undefined ? `Workflow not found: ${schedule.workflow}` : "";
  deps.log.warn("skipped a schedule", { schedule: schedule.schedule_id, slot: due, error });
  return deps.outbox.commit({
    writes: [
      {
        op: "update",
        table: schedulesTable,
        key: { pk: schedule.pk, sk: schedule.sk },
        change: { set: { next_run: next, error } },
        when: stillDue(due),
      },
    ],
  });
}

const stillDue = (due: string) =>
  [
    ["next_run", "=", due],
    ["due", "=", "1"],
  ] as const;
