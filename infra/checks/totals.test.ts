import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { addUp } from "./totals.ts";

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
): Promise<string> {
  const path = join(folder, name);
  const counts = { numPassedTests: passed, numFailedTests: failed, numPendingTests: 1, numTodoTests: 2 };
  await writeFile(path, JSON.stringify({ ...counts, success, testResults: [] }));
  return path;
}

it("adds up what passed, failed and was skipped", async () => {
  const paths = [await reportOf("a", 3, 0), await reportOf("b", 4, 0)];
  expect(addUp(paths)).toEqual({ line: "7 passed, 0 failed, 6 skipped", sound: true, faults: [] });
});

it("is not sound where a test failed, a runner failed without one, none ran, or nothing was reported", async () => {
  const good = await reportOf("good", 3, 0);
  expect(addUp([good, await reportOf("failed", 1, 1)])).toMatchObject({
    line: "4 passed, 1 failed, 6 skipped",
    sound: false,
  });
  expect(addUp([good, await reportOf("crashed", 2, 0, false)])).toMatchObject({ sound: false });
  expect(addUp([good, await reportOf("empty", 0, 0)])).toMatchObject({ sound: false });
  expect(addUp([])).toMatchObject({ line: "0 passed, 0 failed, 0 skipped", sound: false });
});

it("counts the others where a report is missing or cut off", async () => {
  const cut = join(folder, "cut");
  await writeFile(cut, '{"numPassedTests": 1');
  const { line, sound, faults } = addUp([join(folder, "missing"), cut, await reportOf("good", 3, 0)]);
  expect([line, sound, faults.length]).toEqual(["3 passed, 0 failed, 3 skipped", false, 2]);
});
