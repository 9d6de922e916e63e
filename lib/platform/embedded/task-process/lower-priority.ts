import { readdirSync } from "node:fs";
import { constants, setPriority } from "node:os";

/**
 * Lowers the priority of this process. Linux has one per thread, which new threads inherit: those that Node has started
 * already, which collect garbage, are changed as well.
 */
export function lowerPriority(): void {
  const threads = process.platform === "linux" ? readdirSync("/proc/self/task").map(Number) : [0];
  for (const thread of threads) setPriority(thread, constants.priority.PRIORITY_BELOW_NORMAL);
}
