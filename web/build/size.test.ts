import { fileURLToPath } from "node:url";
import { beforeAll, expect, it } from "vitest";
import { ensureWeb, type WebBuild } from "./build.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const KB = 1000;

let built: WebBuild;

beforeAll(async () => {
  built = await ensureWeb(ROOT);
});

/** Compressed bytes of the scripts and styles that a page needs: its own and those of the shell. */
function pageSize(entries: readonly string[]): number {
  const needed = new Set<string>();
  const visit = (key: string): void => {
    // Files that several pages share have no source of their own: they are called by their group.
    const chunk = built.manifest[key] ?? Object.values(built.manifest).find(({ name }) => name === key);
    if (chunk === undefined) throw new Error(`${key} is not in the manifest`);
    if (needed.has(chunk.file)) return;
    for (const file of [chunk.file, ...(chunk.css ?? [])]) needed.add(file);
    for (const imported of chunk.imports ?? []) visit(imported);
  };
  for (const entry of entries) visit(entry);
  return [...needed].reduce((sum, file) => sum + (built.files[`/${file}`]?.gz ?? 0), 0) / KB;
}

const textsOf = (...groups: readonly string[]): string[] => groups.map((group) => `i18n/en/${group}.json`);

/** The tree of documents, the import of files and the theme of the operator, which are loaded after the page. */
const SIDE = ["side", "side-en"];

it.each([
  ["the list of documents", 130, ["pages/documents/documents-page.tsx", ...textsOf("documents")]],
  [
    "the same with all that is loaded after it",
    141,
    [...SIDE, "pages/documents/documents-page.tsx", ...textsOf("documents")],
  ],
  ["the list of runs", 135, ["pages/runs/runs-page.tsx", ...textsOf("runs")]],
  ["a document", 403, ["editor", ...textsOf("document")]],
  [
    "the same with all that is loaded after it",
    424,
    [...SIDE, "editor", "pages/document/editor-controls.tsx", ...textsOf("document", "editor")],
  ],
  [
    "the editor of workflows",
    304,
    [
      "pages/workflow/workflow-page.tsx",
      "pages/workflow/source-editor.tsx",
      ...textsOf("workflows", "run", "runs", "schedules"),
    ],
  ],
])("%s is at most %i KB", (_name, kilobytes, files) => {
  expect(pageSize(["index.html", "shell", ...files])).toBeLessThanOrEqual(kilobytes);
});

it("every script and style is compressed, and named by its content", () => {
  for (const [path, { type, br, gz }] of Object.entries(built.files)) {
    expect(path).toMatch(/^\/assets\/[\w.-]+-[\w-]{8}\.\w+$/);
    if (!/^(?:font|image\/png)/.test(type))
      expect([path, br, gz]).toEqual([path, expect.any(Number), expect.any(Number)]);
  }
});
