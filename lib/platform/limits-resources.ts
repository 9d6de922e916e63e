import { checkLimit } from "./high-water-marks.ts";
import type { Resources } from "./resources.ts";

/** Throws `limit_exceeded` for queues and rules that AWS rejects. The same limits apply on every platform. */
export function checkResources({ queues, rules, schedules }: Resources): void {
  for (const { name, visibilitySeconds, retentionSeconds } of queues) {
    checkLimit("visibilitySeconds", `the queue ${name}`, visibilitySeconds);
    checkLimit("retentionSeconds", `the queue ${name}`, retentionSeconds);
  }
  // Scheduled rules are on the account's default bus.
  checkLimit("busRules", "the bus", rules.length);
  checkLimit("busRules", "the default bus", schedules.length);
  for (const rule of [...rules, ...schedules])
    checkLimit("ruleTargets", `the rule ${rule.name}`, rule.queues.length);
}
