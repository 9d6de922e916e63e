import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { settings } from "../../settings/settings.ts";
import { parseDefinition } from "../schema/parse.ts";

const guide = await readFile(new URL("../../../docs/steps/remote-bash.md", import.meta.url), "utf8");
const examples = [...guide.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, yaml = ""]) => yaml);

describe("the guide of remote-bash steps", () => {
  it("has an example for each runner, each a workflow without warnings", () => {
    expect(examples).toHaveLength(2);
    for (const yaml of examples) expect(parseDefinition(yaml)).toMatchObject({ ok: true, warnings: [] });
    expect(examples.join("")).toMatch(/step_runner: docker[\s\S]*step_runner: ssh/);
  });

  it("names settings that exist", () => {
    const names = new Set(guide.match(/\b(?:REMOTE|SSH|DOCKER)_[A-Z_]+\b/g));
    expect(names.size).toBe(5);
    for (const name of names) expect(settings).toHaveProperty(name);
  });
});
