import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { emulatorsFolder, installVeraPdf } from "../../infra/emulators/install.ts";
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

async function exportTo(to: RenderedFormat): Promise<string> {
  const { bytes, issues } = await render({
    to,
    title: "The title",
    language: "en",
    blocks: JSON.stringify(BLOCKS),
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
  const options = { timeout: PROGRAM_MAX_MS, env: { ...process.env, HOME: folder } };
  await run(
    "soffice",
    ["--headless", "--convert-to", "html:HTML:EmbedImages", "--outdir", folder, path],
    options,
  );
  return readFile(join(folder, "document.html"), "utf8");
}

it.each(["docx", "odt"] as const)(
  "LibreOffice finds the text, headings, lists, tables and images of a %s",
  async (to) => {
    const html = (await openInLibreOffice(await exportTo(to))).replaceAll(/\s+/g, " ");
    const shown = html.replaceAll(/<[^>]*>/g, "");
    for (const word of WORDS) expect(shown).toContain(word);
    expect(html).toMatch(/<h[12][^>]*>(?:<[^>]*>)*First chapter/);
    expect(html).toMatch(/<h[23][^>]*>(?:<[^>]*>)*Second chapter/);
    expect(html).toMatch(/<li>(?:<[^>]*>)* ?two/);
    expect(html).toMatch(/<t[hd][^>]*>(?: ?<[^>]*>)* ?Ada/);
    expect(html).toContain("data:image/png;base64,");
    // LibreOffice writes no alternative texts of images from an ODT.
    if (to === "docx") expect(html).toContain('alt="a picture"');
  },
);

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
