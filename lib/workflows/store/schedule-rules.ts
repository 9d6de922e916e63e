import type { Ports } from "../../platform/ports.ts";
import { expandCron } from "../cron/cron-fields.ts";
import type { Trigger } from "../schema/types.ts";
import { type StoredSchedule, schedulesTable } from "./trigger-tables.ts";

const MINUTE_MS = 60_000;
/** Interval at which all rules are reconciled, minutes… */
const EVERY_MINUTES = 10;
/** …at this minute of the interval, when few schedules fire. */
const AT_MINUTE = 7;
/** Schedules read per reconciliation. */
const READ_MAX = 10_000;
const PAGE = 1_000;

/** Rules are in UTC, and only numeric fields mean the same to every cron parser. */
function punctual(schedules: readonly Pick<StoredSchedule, "expression" | "timezone">[]): string[] {
  const inUtc = schedules.filter(({ timezone }) => timezone === "UTC");
  return [...new Set(inUtc.map(({ expression }) => expandCron(expression)))];
}

/**
 * Creates the scheduled rules of a workflow's cron triggers after they were stored. Never fails: without their rule,
 * triggers fire up to a minute late until `reconcileRules` runs.
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
 * Reconciles the scheduled rules with the expressions in use, every ten minutes. Call it each minute; it never fails.
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
        index: "due",
        pk: "1",
        limit: PAGE,
        ...(cursor === undefined ? {} : { cursor }),
      });
      schedules.push(...page.items);
      cursor = page.cursor;
    } while (cursor !== undefined && schedules.length < READ_MAX);
    const expressions = punctual(schedules);
    // If not all schedules were read, unused rules are unknown.
    await (cursor === undefined ? deps.scheduler.reconcile(expressions) : deps.scheduler.ensure(expressions));
  });
}

async function unpunctually(deps: Pick<Ports, "log">, tell: () => Promise<void>): Promise<void> {
  try {
    await tell();
  } catch (error) {
    deps.log.warn("creating schedule rules failed: schedules may fire up to a minute late", {
      error,
    });
  }
}
