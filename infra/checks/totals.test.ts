import { spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { sumTotals } from "./totals.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "weft-totals-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function reportOf(
  name: string,
  passed: number,
  failed: number,
  success = failed === 0,
  testResults: readonly unknown[] = [],
): Promise<string> {
  const path = join(folder, name);
  const counts = { numPassedTests: passed, numFailedTests: failed, numPendingTests: 1, numTodoTests: 2 };
  await writeFile(path, JSON.stringify({ ...counts, success, testResults }));
  return path;
}

it("adds up passed, failed and skipped tests", async () => {
  const paths = [await reportOf("a", 3, 0), await reportOf("b", 4, 0)];
  expect(sumTotals(paths)).toEqual({
    line: "7 passed, 0 failed, 6 skipped",
    isSuccess: true,
    issues: [],
    failures: [],
    repeated: [],
    slowest: [],
  });
});

it("lists the ten slowest files of all reports, slowest first", async () => {
  const file = (name: string, ms: number) => ({
    name: join(process.cwd(), name),
    status: "passed",
    startTime: 1000,
    endTime: 1000 + ms,
    assertionResults: [],
  });
  const many = Array.from({ length: 9 }, (_, index) => file(`lib/${index}.test.ts`, 100 + index));
  const paths = [
    await reportOf("a", 1, 0, true, [file("lib/slow.test.ts", 61_500), ...many]),
    await reportOf("b", 1, 0, true, [file("lib/slower.test.ts", 90_000)]),
  ];
  const { slowest } = sumTotals(paths);
  expect(slowest).toHaveLength(10);
  expect(slowest.slice(0, 2)).toEqual(["90.0 s  lib/slower.test.ts", "61.5 s  lib/slow.test.ts"]);
});

it("reports each failed test: its file, its full name and the first lines of the message", async () => {
  const path = await reportOf("failed", 1, 1, false, [
    {
      name: join(process.cwd(), "lib/some.test.ts"),
      status: "failed",
      message: "",
      assertionResults: [
        { status: "passed", fullName: "does it", failureMessages: [] },
        {
          status: "failed",
          fullName: "group does it not",
          failureMessages: [
            `\u001b[31mexpected 1\u001b[39m\n    at run (/a/node_modules/b.js:1:2)\n${"at line\n".repeat(40)}`,
          ],
        },
      ],
    },
    { name: join(process.cwd(), "lib/other.test.ts"), status: "passed", message: "", assertionResults: [] },
  ]);
  const { failures } = sumTotals([path]);
  expect(failures).toHaveLength(1);
  const lines = failures[0]?.split("\n") ?? [];
  expect(lines.slice(0, 3)).toEqual([
    "FAILED lib/some.test.ts > group does it not",
    "    expected 1",
    "    at line",
  ]);
  expect(lines).toHaveLength(16);
});

it("reports a test that passed when it was repeated", async () => {
  const path = await reportOf("repeated", 1, 0, true, [
    {
      name: join(process.cwd(), "lib/some.test.ts"),
      status: "passed",
      message: "",
      assertionResults: [
        { status: "passed", fullName: "at once", failureMessages: [] },
        { status: "passed", fullName: "at last", failureMessages: ["expected 1\nat run"] },
      ],
    },
  ]);
  const { repeated, failures, isSuccess } = sumTotals([path]);
  expect(repeated).toEqual(["PASSED WHEN REPEATED lib/some.test.ts > at last\n    expected 1\n    at run"]);
  expect([failures, isSuccess]).toEqual([[], true]);
});

it("reports a file that could not be collected", async () => {
  const path = await reportOf("uncollected", 1, 0, false, [
    {
      name: join(process.cwd(), "lib/some.test.ts"),
      status: "failed",
      message: "no such module",
      assertionResults: [],
    },
  ]);
  expect(sumTotals([path]).failures).toEqual(["FAILED lib/some.test.ts\n    no such module"]);
});

it("prints only the totals on standard output, and at most 20 failures on standard error", async () => {
  const assertionResults = Array.from({ length: 25 }, (_, at) => ({
    status: "failed",
    fullName: `test ${at}`,
    failureMessages: null,
  }));
  const name = join(process.cwd(), "lib/some.test.ts");
  const path = await reportOf("many", 1, 25, false, [
    { name, status: "failed", message: "", assertionResults },
  ]);
  const program = new URL("./totals.ts", import.meta.url).pathname;
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, path], { encoding: "utf8" });
  expect([status, stdout.split("\n").at(-2)]).toEqual([1, "1 passed, 25 failed, 3 skipped"]);
  expect(stderr.match(/^FAILED /gm)).toHaveLength(20);
  expect(stderr).toContain("and 5 more");
});

it("does not pass if a test failed, a runner failed, no test ran, or there is no report", async () => {
  const good = await reportOf("good", 3, 0);
  expect(sumTotals([good, await reportOf("failed", 1, 1)])).toMatchObject({
    line: "4 passed, 1 failed, 6 skipped",
    isSuccess: false,
  });
  expect(sumTotals([good, await reportOf("crashed", 2, 0, false)])).toMatchObject({ isSuccess: false });
  expect(sumTotals([good, await reportOf("empty", 0, 0)])).toMatchObject({ isSuccess: false });
  expect(sumTotals([])).toMatchObject({ line: "0 passed, 0 failed, 0 skipped", isSuccess: false });
});

it("counts the other reports if one is missing or truncated", async () => {
  const cut = join(folder, "cut");
  await writeFile(cut, '{"numPassedTests": 1');
  const { line, isSuccess, issues } = sumTotals([join(folder, "missing"), cut, await reportOf("good", 3, 0)]);
  expect([line, isSuccess, issues.length]).toEqual(["3 passed, 0 failed, 3 skipped", false, 2]);
});
