import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { readTemplate } from "./template.ts";
import { readTemplateOnce } from "./template-cache.ts";

const TEMPLATE = new URL("../template.yaml", import.meta.url).pathname;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "weft-template-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it("reads the same again from its cache, and anew when the text has changed or the cache is broken", () => {
  const expected = readTemplate(TEMPLATE);
  const copy = join(folder, "template.yaml");
  const data = join(folder, "data");
  const text = readFileSync(TEMPLATE, "utf8");
  writeFileSync(copy, text);
  expect(readTemplateOnce(copy, data)).toEqual(expected);
  expect(readTemplateOnce(copy, data)).toEqual(JSON.parse(JSON.stringify(expected)));
  writeFileSync(join(data, "template-cache.json"), "{");
  expect(readTemplateOnce(copy, data)).toEqual(expected);
  writeFileSync(copy, text.replace("Timeout: 29", "Timeout: 28"));
  expect(readTemplateOnce(copy, data)).not.toEqual(expected);
});
