import { recordValue } from "./high-water-marks.ts";
import { LIMITS, type LimitName, limitFault } from "./limits.ts";
import type { Resources } from "./resources.ts";

/** Throws `limit_exceeded` for queues and rules that AWS rejects. The same limits apply on every platform. */
export function checkResources({ queues, rules, schedules }: Resources): void {
  for (const { name, visibilitySeconds, retentionSeconds } of queues) {
    hold("visibilitySeconds", `the queue ${name}`, visibilitySeconds);
    hold("retentionSeconds", `the queue ${name}`, retentionSeconds);
  }
  // Scheduled rules are on the account's default bus.
  hold("busRules", "the bus", rules.length);
  hold("busRules", "the default bus", schedules.length);
  for (const rule of [...rules, ...schedules])
    hold("ruleTargets", `the rule ${rule.name}`, rule.queues.length);
}

function hold(limit: LimitName, what: string, actual: number): void {
  recordValue(limit, actual);
  if (actual > LIMITS[limit].value) throw limitFault(limit, what, actual);
}
