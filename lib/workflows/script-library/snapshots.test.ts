import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type TestContext, testContext } from "./test-context.ts";

let context: TestContext;
beforeEach(() => {
  context = testContext();
});
afterEach(() => context.remove());

it("a snapshot is requested by file if there is one, otherwise by name", () => {
  for (const reply of ["acme_1.zip", "/w/a.zip", "acme", "acme"]) context.replies.push(reply);
  writeFileSync(join(context.cwd, "a.zip"), "zip");
  expect(context.call("snapshot_export", "")).toBe("acme_1.zip");
  expect(context.call("snapshot_export", "acme", "a.zip")).toBe("/w/a.zip");
  expect(context.call("snapshot_import", "a.zip")).toBe("acme");
  expect(context.call("snapshot_import", "acme_1.zip")).toBe("acme");
  expect(context.questions.map(({ input }) => input)).toEqual([
    { of: "export", workspace: "" },
    { of: "export", workspace: "acme", dest: join(context.cwd, "a.zip") },
    { of: "import", file: join(context.cwd, "a.zip") },
    { of: "import", name: "acme_1.zip" },
  ]);
});

it("a snapshot that is unavailable returns empty text and logs a warning", () => {
  expect(context.call("snapshot_import", "out/none.zip")).toBe("");
  expect(context.call("snapshot_import", "")).toBe("");
  expect(context.call("snapshot_export", "acme")).toBe("");
  expect(context.logs).toEqual([
    expect.stringMatching(/out\/none\.zip is not a file/),
    expect.stringMatching(/path is empty/),
    expect.stringMatching(/nobody answers/),
  ]);
});
