import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { startCommand } from "../../bin/test-command.ts";

const ROOT = new URL("../../", import.meta.url);
const pages = (await readdir(new URL("docs/", ROOT), { recursive: true }))
  .filter((path) => path.endsWith(".md"))
  .map((path) => `docs/${path}`);
const text = (path: string): Promise<string> => readFile(new URL(path, ROOT), "utf8");

/** The anchor that GitHub derives from a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");

test("README.md links to every page of the guides", async () => {
  const readme = await text("README.md");
  expect(pages.length).toBeGreaterThan(12);
  expect(pages.filter((page) => !readme.includes(`](${page})`))).toEqual([]);
});

test.each([...pages, "README.md"])("the links of %s lead to existing files and headings", async (page) => {
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

const STEPS = ["bash", "foreach", "parallel-steps", "function"];
describe("the first example of a page works with the command on the page", () => {
  test.each(STEPS)("%s", async (page) => {
    const guide = await text(`docs/steps/${page}.md`);
    const [, yaml = ""] = /^```yaml\n([\s\S]*?)^```$/m.exec(guide) ?? [];
    const [, name = "", args = ""] = /^npx weft run (\S+\.yaml) (.*)$/m.exec(guide) ?? [];
    expect([yaml.split("\n")[0], args]).toEqual([
      `name: ${name.replace(".yaml", "")}`,
      "-t a.example --output",
    ]);
    const folder = await mkdtemp(join(tmpdir(), "weft-guide-"));
    try {
      await writeFile(join(folder, name), yaml);
      const ended = await startCommand(["run", name, ...args.split(" ")], { cwd: folder }).ended;
      expect([ended.code, ended.error]).toEqual([0, ""]);
      expect(ended.out).toMatch(/^completed in \S+ {2}(\d) of \1 steps/m);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
