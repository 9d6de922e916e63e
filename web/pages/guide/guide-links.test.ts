import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { guideName } from "../../build/guides.ts";

const WEB = join(import.meta.dirname, "..", "..");
const DOCS = join(WEB, "..", "docs");
const LINK = /(?:guide="|\/guide\/)([a-z][\w-]*)(?:#([\w-]+))?["`]/g;

const filesIn = async (folder: string, ending: RegExp): Promise<string[]> =>
  (await readdir(folder, { recursive: true }))
    .filter((name) => ending.test(name))
    .map((name) => join(folder, name));

it("every link to a guide leads to one, and to a heading of it", async () => {
  const guides = new Map((await filesIn(DOCS, /\.md$/)).map((path) => [guideName(path), path]));
  expect(guides.size).toBeGreaterThan(0);
  const sources = await Promise.all((await filesIn(WEB, /\.tsx$/)).map((path) => readFile(path, "utf8")));
  const links = [...sources.join("\n").matchAll(LINK)];
  expect(links.length).toBeGreaterThan(0);
  for (const [link, name = "", heading] of links) {
    expect([link, guides.has(name)]).toEqual([link, true]);
    const text = await readFile(guides.get(name) ?? "", "utf8");
    if (heading !== undefined)
      expect(text.toLowerCase().replaceAll(" ", "-")).toMatch(new RegExp(`^#+-${heading}$`, "m"));
  }
});
