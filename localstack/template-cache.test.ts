import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { readTemplate } from "./template.ts";
import { readTemplateOnce } from "./template-cache.ts";

const ROOT = new URL("..", import.meta.url).pathname;
const NESTED = "infra/stacks/workflows.yaml";
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "weft-template-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it("reads the template from its cache, and again from its files if they have changed or the cache is invalid", () => {
  const expected = readTemplate(join(ROOT, "template.yaml"));
  const copy = join(folder, "template.yaml");
  const data = join(folder, "data");
  copyTemplates();
  expect(readTemplateOnce(copy, data)).toEqual(expected);
  expect(readTemplateOnce(copy, data)).toEqual(JSON.parse(JSON.stringify(expected)));
  writeFileSync(join(data, "template-cache.json"), "{");
  expect(readTemplateOnce(copy, data)).toEqual(expected);

  edit(NESTED, "Timeout: 29", "Timeout: 28");
  const slower = readTemplateOnce(copy, data);
  expect(slower).not.toEqual(expected);
  expect(slower).toEqual(readTemplate(copy));

  edit("template.yaml", "rate(1 minute)", "rate(2 minutes)");
  expect(readTemplateOnce(copy, data)).toEqual(readTemplate(copy));
  expect(readTemplateOnce(copy, data)).not.toEqual(slower);
});

it("reports a nested template that was removed", () => {
  const copy = join(folder, "template.yaml");
  const data = join(folder, "data");
  copyTemplates();
  readTemplateOnce(copy, data);
  rmSync(join(folder, NESTED));

  expect(() => readTemplateOnce(copy, data)).toThrow("names a file that does not exist");
});

/** The main one and those of its nested stacks. */
function copyTemplates(): void {
  for (const file of ["template.yaml", "infra/stacks"])
    cpSync(join(ROOT, file), join(folder, file), { recursive: true });
}

function edit(file: string, from: string, to: string): void {
  const text = readFileSync(join(folder, file), "utf8");
  expect(text).toContain(from);
  writeFileSync(join(folder, file), text.replace(from, to));
}
