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

/** Adds up the reports named on the command line and prints one line; ends with 1 where a test failed or none ran. */
const totals = { passed: 0, failed: 0, skipped: 0 };
let sound = true;
for (const path of process.argv.slice(2)) {
  const found = report.parse(JSON.parse(readFileSync(path, "utf8")));
  totals.passed += found.numPassedTests;
  totals.failed += found.numFailedTests;
  totals.skipped += found.numPendingTests + (found.numTodoTests ?? 0);
  sound &&= found.success && found.numPassedTests > 0;
}
process.stdout.write(`${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped\n`);
process.exitCode = sound && totals.failed === 0 && totals.passed > 0 ? 0 : 1;
