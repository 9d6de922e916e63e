import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { emulatorsFolder, installVeraPdf } from "../../infra/emulators/install.ts";
import { convert } from "../../lib/conversion/convert.ts";
import { decodePage } from "../../lib/conversion/imported-page.ts";
import { render } from "../../lib/export/render.ts";
import type { RenderedFormat } from "../../lib/export/rendering.ts";
import { PNG } from "../../lib/testing/test-attachments.ts";

const run = promisify(execFile);
const PROGRAM_MAX_MS = 50_000;
const KEY = "5f1d2c3b-0a4e-4a6b-8c7d-9e0f1a2b3c4d/attachments/5f1d2c3b-0a4e-4a6b-8c7d-9e0f1a2b3c4e.png";

const text = (value: string, styles = {}) => ({ type: "text", text: value, styles });
const block = (type: string, content: unknown, props = {}, children: unknown[] = []) => ({
  id: type,
  type,
  props,
  content: typeof content === "string" ? [text(content)] : content,
  children,
});
const row = (...cells: string[]) => ({
  cells: cells.map((one) => ({ type: "tableCell", content: [text(one)], props: {} })),
});
const BLOCKS = [
  block("heading", "First chapter", { level: 1 }),
  block("paragraph", [text("Some "), text("bold", { bold: true }), text(" words, Ελληνικά, Русский.")]),
  block("bulletListItem", "fruit", {}, [block("bulletListItem", "apple")]),
  block("numberedListItem", "one"),
  block("numberedListItem", "two"),
  block("checkListItem", "task", { checked: true }),
  block("table", {
    type: "tableContent",
    columnWidths: [],
    headerRows: 1,
    rows: [row("Name", "Age"), row("Ada", "36")],
  }),
  block("codeBlock", "let a = 1;", { language: "js" }),
  block("callout", "take care", { emoji: "!" }),
  block("pageBreak", undefined),
  block("heading", "Second chapter", { level: 2 }),
  block("image", undefined, { url: `/media/${KEY}`, caption: "a picture" }),
];
const WORDS = [
  ...[
    "The title",
    "First chapter",
    "bold",
    "Ελληνικά",
    "Русский",
    "fruit",
    "apple",
    "one",
    "two",
    "task",
    "Name",
    "Ada",
  ],
  ...["let a = 1;", "take care", "Second chapter", "a picture", "please check"],
];

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "weft-office-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function exportTo(to: RenderedFormat, blocks: unknown[] = BLOCKS): Promise<string> {
  const { bytes, issues } = await render({
    to,
    title: "The title",
    language: "en",
    blocks: JSON.stringify(blocks),
    images: new Map([[KEY, { type: "image/png", bytes: PNG }]]),
    documents: new Map(),
    baseUrl: "https://weft.example",
    comments: [
      { author: "Ada", at: "2026-01-02T03:04:05Z", text: "please check", isFirst: true, isResolved: false },
    ],
  });
  expect(issues).toEqual([]);
  const path = join(folder, `document.${to}`);
  await writeFile(path, bytes);
  return path;
}

/** What LibreOffice reads from a file, as HTML: it shows headings, tables and images. */
async function openInLibreOffice(path: string): Promise<string> {
  return readFile(await convertByLibreOffice(path, "html", ":HTML:EmbedImages"), "utf8");
}

/** Returns the path of the written file. */
async function convertByLibreOffice(path: string, to: string, filter = ""): Promise<string> {
  const options = { timeout: PROGRAM_MAX_MS, env: { ...process.env, HOME: folder } };
  await run("soffice", ["--headless", "--convert-to", `${to}${filter}`, "--outdir", folder, path], options);
  return join(folder, `document.${to}`);
}

it.each(["docx", "odt"] as const)(
  "LibreOffice finds the text, headings, lists, tables and images of a %s",
  async (to) => {
    const html = (await openInLibreOffice(await exportTo(to))).replaceAll(/\s+/g, " ");
    const shown = html.replaceAll(/<[^>]*>/g, "");
    for (const word of WORDS) expect(shown).toContain(word);
    expect(shown).toContain("Some bold words, Ελληνικά");
    expect(html).toMatch(/<thead>.*Name.*<\/thead>/);
    expect(html).toMatch(/<h[12][^>]*>(?:<[^>]*>)*First chapter/);
    expect(html).toMatch(/<h[23][^>]*>(?:<[^>]*>)*Second chapter/);
    expect(html).toMatch(/<li>(?:<[^>]*>)* ?two/);
    expect(html).toMatch(/<t[hd][^>]*>(?: ?<[^>]*>)* ?Ada/);
    expect(html).toContain("data:image/png;base64,");
    // LibreOffice writes no alternative texts of images from an ODT.
    if (to === "docx") expect(html).toContain('alt="a picture"');
  },
);

it("an ODT that LibreOffice writes is imported with headings, lists, tables, code and images", async () => {
  const path = await convertByLibreOffice(await exportTo("docx"), "odt");
  const page = decodePage(
    (await convert({ from: "odt", bytes: await readFile(path), to: "page" })) as Uint8Array,
  );
  const markdown = String(await convert({ from: "yjs", bytes: page.state, to: "markdown" }));
  for (const part of ["# The title\n", "# First chapter\n", "**bold**", "Ελληνικά", "1. one\n2. two\n"])
    expect(markdown).toContain(part);
  expect(markdown).toMatch(/^\* fruit\n {2}\* apple$/m);
  expect(markdown).toMatch(/^\* \[x\] task$/m);
  expect(markdown).toMatch(
    /\| \*{0,2}Name\*{0,2} +\| \*{0,2}Age\*{0,2} +\|\n\| -+ \| -+ \|\n\| Ada +\| 36 +\|/,
  );
  expect(markdown).toContain("let a = 1;");
  expect(page.files).toMatchObject([{ name: "image-1.png" }]);
  expect(markdown).toContain("image-1.png");
});

it("veraPDF finds that a PDF conforms to PDF/UA-1", async () => {
  const verapdf = await installVeraPdf(emulatorsFolder(process.env));
  const path = await exportTo("pdf");
  const classes = [join(verapdf, "classes"), join(verapdf, "libraries", "*")].join(":");
  const { stdout } = await run("java", ["-cp", classes, "CheckPdf", path], { timeout: PROGRAM_MAX_MS });
  expect(stdout.trim()).toBe("conforms");
}, 300_000);

it("Poppler finds the text of a PDF, its tags and its second page", async () => {
  const path = await exportTo("pdf");
  const { stdout } = await run("pdftotext", ["-layout", path, "-"], { timeout: PROGRAM_MAX_MS });
  for (const word of WORDS) expect(stdout).toContain(word);
  const { stdout: info } = await run("pdfinfo", [path], { timeout: PROGRAM_MAX_MS });
  expect(info).toMatch(/Title:\s+The title/);
  expect(info).toMatch(/Tagged:\s+yes/);
  expect(info).toMatch(/Pages:\s+2/);
  const { stdout: structure } = await run("pdfinfo", ["-struct-text", path], { timeout: PROGRAM_MAX_MS });
  for (const tag of ["H1", "H2", "Table", "TH", "L", "Figure"])
    expect(structure).toMatch(new RegExp(`^\\s*${tag}\\b`, "m"));
  expect(structure).toContain("a picture");
});

it("a PDF embeds fonts for every script, from the packages that docs/documents/export.md names", async () => {
  const scripts = ["naïve", "Ελληνικά", "Русский", "中文", "日本語のかな", "한국어", "مرحبا", "🙂"];
  const path = await exportTo(
    "pdf",
    scripts.map((words) => block("paragraph", words)),
  );
  const { stdout } = await run("pdftotext", [path, "-"], { timeout: PROGRAM_MAX_MS });
  // Poppler returns the letters of Arabic in the order of the page, with marks of direction.
  for (const words of scripts) if (words !== "مرحبا") expect(stdout).toContain(words);
  expect([...(stdout.match(/\p{Script=Arabic}/gu) ?? [])].toSorted()).toEqual([..."مرحبا"].toSorted());
  const { stdout: fonts } = await run("pdffonts", [path], { timeout: PROGRAM_MAX_MS });
  const embedded = fonts
    .trim()
    .split("\n")
    .slice(2)
    .map((line) => /(yes|no) +(?:yes|no) +(?:yes|no) +\d+ +\d+$/.exec(line)?.[1]);
  expect(embedded.length).toBeGreaterThan(2);
  expect(new Set(embedded)).toEqual(new Set(["yes"]));
});
