import type { Ports } from "../../platform/ports.ts";
import { writeOutCron } from "../cron/cron-fields.ts";
import type { Trigger } from "../schema/types.ts";
import { type StoredSchedule, schedulesTable } from "./trigger-tables.ts";

const MINUTE_MS = 60_000;
/** So often the platform is told of all schedules, minutes… */
const EVERY_MINUTES = 10;
/** …at this one of them, when few schedules fire. */
const AT_MINUTE = 7;
/** Schedules that are looked at for it. */
const READ_MAX = 10_000;
const PAGE = 1_000;

/** The platform's clocks are in UTC; and numbers alone mean the same to all readers of cron. */
function punctual(schedules: readonly Pick<StoredSchedule, "expression" | "timezone">[]): string[] {
  const inUtc = schedules.filter(({ timezone }) => timezone === "UTC");
  return [...new Set(inUtc.map(({ expression }) => writeOutCron(expression)))];
}

/**
 * Has the cron triggers of a workflow, once they are stored, fire punctually. Where the platform cannot be told
 * they fire all the same, up to a minute late until `keepRules`: so it never fails.
 */
export async function ensureRules(
  deps: Pick<Ports, "scheduler" | "log">,
  triggers: readonly Trigger[],
): Promise<void> {
  const expressions = punctual(
    triggers.flatMap((trigger) =>
      trigger.type === "cron" && trigger.enabled
        ? [{ expression: trigger.schedule, timezone: trigger.timezone }]
        : [],
    ),
  );
  if (expressions.length === 0) return;
  await unpunctually(deps, () => deps.scheduler.ensure(expressions));
}

/**
 * Tells the platform every ten minutes which expressions there are, so that it wakes for those and for no others.
 * To be called each minute; never fails.
 */
export async function reconcileRules(
  deps: Pick<Ports, "tables" | "scheduler" | "clock" | "log">,
): Promise<void> {
  if (Math.floor(deps.clock.now() / MINUTE_MS) % EVERY_MINUTES !== AT_MINUTE) return;
  await unpunctually(deps, async () => {
    const schedules: StoredSchedule[] = [];
    let cursor: string | undefined;
    do {
      const page = await deps.tables.query(schedulesTable, {
        ...{ index: "due", pk: "1", limit: PAGE },
        ...(cursor === undefined ? {} : { cursor }),
      });
      schedules.push(...page.items);
      cursor = page.cursor;
    } while (cursor !== undefined && schedules.length < READ_MAX);
    const expressions = punctual(schedules);
    // Where some were not looked at, nobody can say which rules are needed no more.
    await (cursor === undefined ? deps.scheduler.reconcile(expressions) : deps.scheduler.ensure(expressions));
  });
}

async function unpunctually(deps: Pick<Ports, "log">, tell: () => Promise<void>): Promise<void> {
  try {
    await tell();
  } catch (error) {
    deps.log.warn("schedules may fire up to a minute late: the platform could not be told of them", {
      error,
    });
  }
}
