import { readFileSync } from "node:fs";
import * as z from "zod";

/** A report of vitest's JSON reporter, as far as it is used. */
const report = z.object({
  numPassedTests: z.int(),
  numFailedTests: z.int(),
  numPendingTests: z.int(),
  numTodoTests: z.int().optional(),
  success: z.boolean(),
});

/** What the reports come to, and whether each was there, told of success and ran a test. */
export interface Totals {
  readonly line: string;
  readonly sound: boolean;
  /** What is wrong with a report, one line each. */
  readonly faults: readonly string[];
}

/** Adds up the reports at the given paths. One that cannot be read is a fault, and the others count. */
export function addUp(paths: readonly string[]): Totals {
  const totals = { passed: 0, failed: 0, skipped: 0 };
  const faults: string[] = [];
  for (const path of paths) {
    try {
      const found = report.parse(JSON.parse(readFileSync(path, "utf8")));
      totals.passed += found.numPassedTests;
      totals.failed += found.numFailedTests;
      totals.skipped += found.numPendingTests + (found.numTodoTests ?? 0);
      if (!found.success) faults.push(`${path}: the runner tells of a failure`);
      if (found.numPassedTests === 0) faults.push(`${path}: no test passed`);
    } catch (error) {
      faults.push(`${path}: no report of vitest (${error instanceof Error ? error.name : "unknown"})`);
    }
  }
  return {
    line: `${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`,
    sound: faults.length === 0 && totals.failed === 0 && totals.passed > 0,
    faults,
  };
}

/** Prints one line for the reports named on the command line; ends with 1 where a test failed or none ran. */
if (import.meta.main) {
  const { line, sound, faults } = addUp(process.argv.slice(2));
  for (const fault of faults) console.error(fault);
  console.log(line);
  process.exitCode = sound ? 0 : 1;
}
