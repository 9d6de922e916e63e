import { describe, expect, it } from "vitest";
import { checkConventions, FILE_LINES_MAX } from "./conventions.ts";

function brokenRules(path: string, ...lines: string[]): string[] {
  return checkConventions([{ path, text: lines.join("\n") }]).map(({ rule }) => rule);
}

describe("conventions", () => {
  it.each(["lib/events/utils.ts", "lib/helpers.ts", "infra/common.test.ts", "lib/string-util.ts"])(
    "reject the file name %s",
    (path) => {
      expect(brokenRules(path)).toEqual(["name-says-what"]);
    },
  );

  it.each(["lib/workflows/schema/types.ts", "lib/commons-house.ts", "lib/common-topics.ts"])(
    "accept the file name %s",
    (path) => {
      expect(brokenRules(path)).toEqual([]);
    },
  );

  it("reject a default export outside a tool's configuration", () => {
    expect(brokenRules("lib/a.ts", "export default class {}")).toEqual(["no-default-export"]);
    expect(brokenRules("lib/a.ts", "const a = 1;", "export { a as default };")).toEqual([
      "no-default-export",
    ]);
    expect(brokenRules("infra/vitest.config.ts", "export default {};")).toEqual([]);
    expect(brokenRules("lib/a.ts", "// export default is not used here", "export const a = 1;")).toEqual([]);
  });

  it.each([
    'import { z } from "zod";',
    "import { type ZodType, z } from 'zod';",
    'import z from "zod";',
    'import {\n  z,\n} from "zod";',
    'import { z as zod } from "zod";',
    'import z, { ZodError } from "zod";',
  ])("reject %j", (line) => {
    expect(brokenRules("lib/a.test.ts", line)).toEqual(["zod-as-namespace"]);
  });

  it.each([
    'import * as z from "zod";',
    'import type * as z from "zod";',
    'import type { z } from "zod";',
    'import { x } from "./y.ts";\nimport * as z from "zod";',
  ])("accept %j", (line) => {
    expect(brokenRules("lib/a.ts", line)).toEqual([]);
  });

  it("reject a long file, except for tests", () => {
    const lines = Array.from({ length: FILE_LINES_MAX }, (_, index) => `const line${index} = 0;`);

    expect(brokenRules("lib/a.ts", ...lines, "")).toEqual([]);
    expect(brokenRules("lib/a.ts", ...lines, "const more = 0;")).toEqual(["file-length"]);
    expect(brokenRules("lib/a.test.ts", ...lines, "const more = 0;")).toEqual([]);
  });

  it("reject process.env in services", () => {
    expect(brokenRules("lib/workflows/a.ts", "const home = process.env.HOME;")).toEqual([
      "no-environment-in-services",
    ]);
    expect(brokenRules("lib/workflows/test-context.ts", "const home = process.env.HOME;")).toEqual([]);
    expect(brokenRules("lib/workflows/a.ts", " * never reads process.env")).toEqual([]);
    expect(brokenRules("lib/platform/embedded/a.ts", "const home = process.env.HOME;")).toEqual([]);
  });

  it("reject table scans outside migrations", () => {
    const line = "const page = await deps.tables.scan(documentsTable, { limit: 25 });";
    expect(brokenRules("lib/documents/lists/all.ts", line)).toEqual(["no-scans"]);
    expect(brokenRules("functions/schedules/sweep.ts", line)).toEqual(["no-scans"]);
    expect(brokenRules("lib/upgrades/split-content.ts", line)).toEqual([]);
  });

  it("reject loops over attempts", () => {
    const line = "for (let attempt = 0; attempt < TRIES_MAX; attempt += 1) {";
    expect(brokenRules("lib/documents/a.ts", line)).toEqual(["retry-on-conflict"]);
    expect(brokenRules("lib/documents/a.test.ts", line)).toEqual([]);
    expect(brokenRules("lib/documents/a.ts", "for (let number = 0; number < 3; number += 1) {")).toEqual([]);
  });
});
