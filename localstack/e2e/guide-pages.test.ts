import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { expect, test } from "vitest";

const ROOT = new URL("../../", import.meta.url);
const pages = (await readdir(new URL("docs/", ROOT), { recursive: true }))
  .filter((path) => path.endsWith(".md"))
  .map((path) => `docs/${path}`);
const text = (path: string): Promise<string> => readFile(new URL(path, ROOT), "utf8");

/** As GitHub makes it of a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");

test("every page of the guides can be reached from README.md", async () => {
  const readme = await text("README.md");
  expect(pages.length).toBeGreaterThan(12);
  expect(pages.filter((page) => !readme.includes(`](${page})`))).toEqual([]);
});

test.each([...pages, "README.md"])("links of %s lead to files and headings that there are", async (page) => {
  const own = new URL(page, ROOT);
  for (const [, link = ""] of (await text(page)).matchAll(/\]\(([^)\s]+)\)/g)) {
    if (/^[a-z]+:/.test(link)) continue;
    const target = new URL(link, own);
    const file = new URL(target);
    file.hash = "";
    expect([link, existsSync(file)]).toEqual([link, true]);
    if (target.hash === "") continue;
    const headings = [...(await readFile(file, "utf8")).matchAll(/^#+ (.+)$/gm)];
    expect(headings.map(([, heading = ""]) => `#${anchorOf(heading)}`)).toContain(target.hash);
  }
});
