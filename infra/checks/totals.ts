import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { stripVTControlCharacters } from "node:util";
import * as z from "zod";

const SHOWN_FAILURES = 20;
const SHOWN_LINES = 15;
const SHOWN_SLOWEST = 10;
const MS_PER_SECOND = 1000;
/** Stack frames of the runner and of libraries, which do not locate the failure. */
const FOREIGN_FRAME = /^ +at .*(?:node_modules\/|\(?node:)/;
/** A line may contain a whole document, as the counterexample of a property does. */
const SHOWN_LINE_LENGTH = 300;

/** A file of vitest's JSON report; only the fields that are used. `message` is empty unless collection failed. */
const testFile = z.object({
  name: z.string(),
  status: z.string(),
  /** Milliseconds since the epoch. */
  startTime: z.number().optional(),
  endTime: z.number().optional(),
  message: z.string().optional(),
  assertionResults: z.array(
    z.object({
      status: z.string(),
      fullName: z.string(),
      failureMessages: z.array(z.string()).nullish(),
    }),
  ),
});
type TestFile = z.infer<typeof testFile>;

/** A report of vitest's JSON reporter; only the fields that are used. */
const report = z.object({
  testResults: z.array(testFile),
  numPassedTests: z.int(),
  numFailedTests: z.int(),
  numPendingTests: z.int(),
  numTodoTests: z.int().optional(),
  success: z.boolean(),
});

/** Totals of the reports; `passed` if every report exists, reports success and contains a test. */
export interface Totals {
  readonly line: string;
  readonly isSuccess: boolean;
  /** Issues of the reports, one line each. */
  readonly issues: readonly string[];
  /** Failed tests, and files that could not be collected: the file, the full name, the message. */
  readonly failures: readonly string[];
  /** Tests that failed and passed when repeated: the file, the full name, the first message. */
  readonly repeated: readonly string[];
  /** The slowest files, slowest first, one line each. */
  readonly slowest: readonly string[];
}

/** Adds up the reports at the given paths. A report that cannot be read is an issue; the others still count. */
export function sumTotals(paths: readonly string[]): Totals {
  const totals = { passed: 0, failed: 0, skipped: 0 };
  const issues: string[] = [];
  const failures: string[] = [];
  const repeated: string[] = [];
  const files: TestFile[] = [];
  for (const path of paths) {
    try {
      const found = report.parse(JSON.parse(readFileSync(path, "utf8")));
      totals.passed += found.numPassedTests;
      totals.failed += found.numFailedTests;
      totals.skipped += found.numPendingTests + (found.numTodoTests ?? 0);
      failures.push(...found.testResults.flatMap(listFailures));
      repeated.push(...found.testResults.flatMap(listRepeated));
      files.push(...found.testResults);
      if (!found.success) issues.push(`${path}: vitest reports a failure`);
      if (found.numPassedTests === 0) issues.push(`${path}: no test passed`);
    } catch (error) {
      issues.push(`${path}: not a report of vitest (${error instanceof Error ? error.name : "unknown"})`);
    }
  }
  return {
    line: `${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`,
    isSuccess: issues.length === 0 && totals.failed === 0 && totals.passed > 0,
    issues,
    failures,
    repeated,
    slowest: files
      .toSorted((a, b) => durationMs(b) - durationMs(a))
      .slice(0, SHOWN_SLOWEST)
      .map(
        (file) => `${(durationMs(file) / MS_PER_SECOND).toFixed(1)} s  ${relative(process.cwd(), file.name)}`,
      ),
  };
}

function durationMs({ startTime = 0, endTime = startTime }: TestFile): number {
  return endTime - startTime;
}

function listFailures({ name, status, message = "", assertionResults }: TestFile): string[] {
  const file = relative(process.cwd(), name);
  const failed = assertionResults
    .filter((test) => test.status === "failed")
    .map((test) => formatFailure("FAILED", `${file} > ${test.fullName}`, test.failureMessages?.join("\n")));
  // A file that does not load, or a failing hook, has no failed test.
  const itself = status === "failed" && (message !== "" || failed.length === 0);
  return itself ? [formatFailure("FAILED", file, message), ...failed] : failed;
}

function listRepeated({ name, assertionResults }: TestFile): string[] {
  return assertionResults.flatMap(({ status, fullName, failureMessages }) =>
    status === "passed" && failureMessages?.[0] !== undefined
      ? formatFailure(
          "PASSED WHEN REPEATED",
          `${relative(process.cwd(), name)} > ${fullName}`,
          failureMessages[0],
        )
      : [],
  );
}

function formatFailure(outcome: string, title: string, message = ""): string {
  const lines = stripVTControlCharacters(message)
    .split("\n")
    .filter((line) => !FOREIGN_FRAME.test(line));
  const kept = lines.slice(0, SHOWN_LINES).map((line) => `    ${line.slice(0, SHOWN_LINE_LENGTH)}`);
  return [`${outcome} ${title}`, ...kept].join("\n");
}

/**
 * Prints the slowest test files and, as the last line, the totals of the reports named on the command line. Failures
 * and repeated tests go to standard error. The exit code is 1 if a test failed or no test ran.
 */
if (import.meta.main) {
  const { line, isSuccess, issues, failures, repeated, slowest } = sumTotals(process.argv.slice(2));
  console.log(["The slowest test files:", ...slowest].join("\n"));
  for (const test of repeated.slice(0, SHOWN_FAILURES)) console.error(test);
  for (const failure of failures.slice(0, SHOWN_FAILURES)) console.error(failure);
  const more = failures.length - SHOWN_FAILURES;
  if (more > 0) console.error(`and ${more} more`);
  for (const issue of issues) console.error(issue);
  console.log(line);
  process.exitCode = isSuccess ? 0 : 1;
}
