import { deflateSync } from "node:zlib";
import mammoth from "mammoth";
import { describe, expect, it } from "vitest";
import { fromBufferPromise } from "yauzl";
import { convert } from "../conversion/convert.ts";
import { decodePage } from "../conversion/imported-page.ts";
import type { Block, Inline } from "../conversion/read-blocks.ts";
import { render } from "./render.ts";
import type { RenderedFormat, Rendering } from "./rendering.ts";

let blocks = 0;
const text = (value: string, styles: Record<string, unknown> = {}): Inline => ({
  type: "text",
  text: value,
  styles,
});
const block = (
  type: string,
  content: Block["content"] | string = undefined,
  props: Record<string, unknown> = {},
  children: Block[] = [],
): Block => {
  blocks += 1;
  return {
    id: `b${blocks}`,
    type,
    props,
    content: typeof content === "string" ? [text(content)] : content,
    children,
  };
};

/** The smallest PNG. */
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const FOLDER = "5f1d2c3b-0a4e-4a6b-8c7d-9e0f1a2b3c4d/attachments/";
const LINKED = "0b9c9a3e-7f0c-4c58-9a43-5d2f6e0b0001";
const table = block("table", {
  type: "tableContent",
  columnWidths: [],
  headerRows: 1,
  headerCols: undefined,
  rows: [
    ["Name", "Age"],
    ["Ada", "36"],
  ].map((cells) => ({
    cells: cells.map((value) => ({ type: "tableCell" as const, content: [text(value)], props: {} })),
  })),
});
const SAMPLE: readonly Block[] = [
  block("heading", "Chapter", { level: 1 }),
  block("paragraph", [
    text("plain "),
    text("bold", { bold: true }),
    text(" and ", {}),
    { type: "link", href: "https://e.example/?a=1&b=2", content: [text("a link") as never] },
    { type: "interlinkingLinkInline", props: { docId: LINKED }, content: undefined },
    { type: "mention", props: { user: LINKED, name: "Grace" }, content: undefined },
  ]),
  block("bulletListItem", "first", {}, [block("numberedListItem", "nested", { start: 3 })]),
  block("bulletListItem", "second"),
  block("checkListItem", "done", { checked: true }),
  block("checkListItem", "open", { checked: false }),
  table,
  block("codeBlock", "let a = 1 < 2;\nlet b;", { language: "js" }),
  block("quote", "quoted words"),
  block("callout", "take care", { emoji: "!" }),
  block("pageBreak"),
  block("divider"),
  block("image", undefined, { url: `/media/${FOLDER}known.png`, caption: "a caption", name: "picture.png" }),
  block("file", undefined, { url: "/media/other.zip", name: "other.zip" }),
  block("unknownBlock", "kept text", { title: "t" }),
  block("paragraph", "Ελληνικά Русский"),
];

const rendering = (
  to: RenderedFormat,
  given: readonly Block[] = SAMPLE,
  more: Partial<Rendering> = {},
): Rendering => ({
  to,
  title: "A <title> & more",
  language: "en-us",
  blocks: JSON.stringify(given),
  images: new Map([[`${FOLDER}known.png`, { type: "image/png", bytes: PNG }]]),
  documents: new Map([[LINKED, { title: "Other page", url: "https://weft.example/docs/other/" }]]),
  baseUrl: "https://weft.example",
  comments: [
    { author: "Ada", at: "2026-01-02T03:04:05.000Z", text: "a remark", isFirst: true, isResolved: false },
  ],
  ...more,
});
const written = async (...given: Parameters<typeof rendering>) => (await render(rendering(...given))).bytes;
const shown = async (...given: Parameters<typeof rendering>) =>
  Buffer.from(await written(...given)).toString();

/** The text of a file in an archive. */
async function entryOf(bytes: Uint8Array, name: string): Promise<string> {
  const zip = await fromBufferPromise(Buffer.from(bytes), { lazyEntries: true });
  for await (const entry of zip.eachEntry()) {
    if (entry.fileName !== name) continue;
    const chunks: Buffer[] = [];
    for await (const chunk of await zip.openReadStreamPromise(entry)) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks).toString();
  }
  throw new Error(`no ${name}`);
}

const WORDS = [
  ...[
    "Chapter",
    "plain",
    "bold",
    "a link",
    "Other page",
    "@Grace",
    "first",
    "nested",
    "second",
    "done",
    "open",
    "Name",
    "Age",
  ],
  ...[
    "Ada",
    "36",
    "let b;",
    "quoted words",
    "take care",
    "other.zip",
    "kept text",
    "Ελληνικά",
    "Русский",
    "a remark",
  ],
];

describe("a document as a file", () => {
  it("is one accessible HTML page without scripts", async () => {
    const html = await shown("html");
    for (const word of WORDS) expect(html).toContain(word);
    expect(html).toContain('<html lang="en-US"');
    expect(html).toContain("<title>A &lt;title&gt; &amp; more</title>");
    expect(html).toContain('<th scope="col">Name</th>');
    expect(html).toContain('<ol start="3">');
    expect(html).toContain('<label><input type="checkbox" disabled checked> done</label>');
    expect(html).toContain(`<img src="data:image/png;base64,${PNG.toString("base64")}" alt="a caption">`);
    expect(html).toContain('href="https://weft.example/media/other.zip"');
    expect(html).toContain('href="https://weft.example/docs/other/"');
    expect(html.match(/<h1/g)).toHaveLength(1);
  });

  it("is Markdown that readers can read", async () => {
    const markdown = await shown("markdown");
    for (const word of WORDS) expect(markdown).toContain(word);
    expect(markdown).toContain("- first\n  3. nested\n- second");
    expect(markdown).toContain("- [x] done\n- [ ] open");
    expect(markdown).toContain("| Name | Age |\n| --- | --- |\n| Ada | 36 |");
    expect(markdown).toContain("```js\nlet a = 1 < 2;\nlet b;\n```");
    expect(
      await shown("markdown", [block("paragraph", "# no heading *no emphasis* <b> 1. [x](y)")]),
    ).toContain("\\# no heading \\*no emphasis\\* &lt;b> 1. \\[x\\](y)");
  });

  it("is a DOCX that programs read, with headings, lists, tables, images and alternative texts", async () => {
    const bytes = await written("docx");
    const { value: html } = await mammoth.convertToHtml({ buffer: Buffer.from(bytes) });
    for (const word of WORDS) expect(html.replaceAll(/<br ?\/>/g, "\n")).toContain(word);
    expect(html).toContain("<h1>Chapter</h1>");
    expect(html).toMatch(/<thead><tr><th><p><strong>Name<\/strong><\/p><\/th>/);
    expect(html).toContain('alt="a caption"');
  });

  it("is a DOCX from which code and quotes are imported as such", async () => {
    const inline = [text("see "), text("a < b", { code: true })];
    const code = "if (a)\n\n  b;";
    const given = [
      block("paragraph", inline),
      block("codeBlock", code, { language: "js" }),
      block("quote", "a\nb"),
    ];
    const { state } = decodePage(
      (await convert({ from: "docx", bytes: await written("docx", given), to: "page" })) as Uint8Array,
    );
    const blocks = JSON.parse(String(await convert({ from: "yjs", bytes: state, to: "json" })));
    expect(blocks.slice(1, 4)).toMatchObject([
      { type: "paragraph", content: [text("see "), text("a < b", { code: true })] },
      { type: "codeBlock", content: [text(code)] },
      { type: "quote", content: [text("a\nb")] },
    ]);
  });

  it("is a DOCX whose numbered lists each begin with their own number", async () => {
    const item = (start?: number, ...children: Block[]) =>
      block("numberedListItem", "item", start === undefined ? {} : { start }, children);
    const bytes = await written("docx", [
      item(1, item(), item()),
      item(undefined, item()),
      block("paragraph", "between"),
      item(1),
      item(3),
      item(),
    ]);
    const content = await entryOf(bytes, "word/document.xml");
    const numbering = await entryOf(bytes, "word/numbering.xml");
    const starts = new Map(
      [...numbering.matchAll(/<w:num w:numId="(\d+)"[^>]*>(.*?)<\/w:num>/gs)].map(([, id, inner = ""]) => [
        id,
        [...inner.matchAll(/<w:startOverride w:val="(\d+)"/g)].map(([, start]) => start),
      ]),
    );
    const items = [...content.matchAll(/<w:ilvl w:val="(\d)"\/><w:numId w:val="(\d+)"/g)].map(
      ([, level, list]) => ({ list, level: Number(level), start: starts.get(list)?.[Number(level)] }),
    );
    expect(items.map(({ level, start }) => [level, start])).toEqual([
      [0, "1"],
      [1, "1"],
      [1, "1"],
      [0, "1"],
      [1, "1"],
      [0, "1"],
      [0, "3"],
      [0, "3"],
    ]);
    const [first, nested, nestedToo, second, below, alone, third, last] = items.map(({ list }) => list);
    expect([nestedToo, second, last]).toEqual([nested, first, third]);
    expect(new Set([first, nested, below, alone, third]).size).toBe(5);
  });

  it("is an ODT whose first file is its type", async () => {
    const bytes = await written("odt");
    const content = await entryOf(bytes, "content.xml");
    for (const word of WORDS) expect(content.replaceAll("<text:s/>", " ")).toContain(word);
    expect(Buffer.from(bytes).toString("latin1", 30, 38)).toBe("mimetype");
    expect(content).toContain("<text:list");
    expect(content).toContain("<table:table-cell");
    expect(content).toContain("<svg:title>a caption</svg:title>");
    expect(content).toMatch(/<table:table-header-rows><table:table-row>(?:(?!<\/table:table-row>).)*Name/);
    expect(await entryOf(bytes, "styles.xml")).toContain('fo:language="en" fo:country="US"');
    expect(await entryOf(bytes, "meta.xml")).toContain("<dc:language>en-US</dc:language>");
  });

  it("is an ODT with the white space of the text, and no other", async () => {
    const runs = [text(" a  b"), text("c", { bold: true }), text(" "), text(" d\n e\tf", { italic: true })];
    const content = await entryOf(await written("odt", [block("paragraph", runs)]), "content.xml");
    const [, paragraph = ""] = /<text:p [^>]*>(.*?)<\/text:p>/s.exec(content) ?? [];
    expect(paragraph.replaceAll(/<\/?text:span[^>]*>/g, "")).toBe(
      '<text:s text:c="1"/>a <text:s text:c="1"/>bc <text:s text:c="1"/>d<text:line-break/>' +
        '<text:s text:c="1"/>e<text:tab/>f',
    );
  });

  it("keeps the alignment of a block, which does not apply to the blocks below it", async () => {
    const centered = { textAlignment: "center" };
    const given = [
      block("bulletListItem", "item", centered, [block("bulletListItem", "below")]),
      block("checkListItem", "task", { ...centered, checked: true }),
      block("callout", "note", { textAlignment: "right" }),
      block("quote", "quote", centered),
    ];
    const html = await shown("html", given);
    const style = 'style="text-align:center"';
    expect(html).toContain(`<li><p ${style}>item</p>\n<ul>\n<li>below</li>`);
    expect(html).toContain(
      `<li><p ${style}><label><input type="checkbox" disabled checked> task</label></p>`,
    );
    expect(html).toContain('<aside role="note"><p style="text-align:right">');
    const docx = await entryOf(await written("docx", given), "word/document.xml");
    const paragraphs = [...docx.matchAll(/<w:jc w:val="(\w+)"\/>.*?<w:t[^>]*>([^<]+)<\/w:t>/gs)];
    expect(paragraphs.map(([, align, content]) => [align, content])).toEqual(
      expect.arrayContaining([
        ["center", "item"],
        ["start", "below"],
        ["center", "☑ "],
        ["end", "note"],
        ["center", "quote"],
      ]),
    );
    expect(await render(rendering("pdf", given))).toMatchObject({ issues: [] });
  });

  it("is a tagged PDF that conforms to PDF/UA-1", async () => {
    const { bytes, issues } = await render(rendering("pdf"));
    const pdf = Buffer.from(bytes).toString("latin1");
    expect(issues).toEqual([]);
    expect(pdf.startsWith("%PDF-1.")).toBe(true);
    expect(pdf).toContain("/StructTreeRoot");
    expect(pdf).toContain("/Outlines");
  });
});

it("names the characters of a PDF for which no font is installed", async () => {
  // Private use: no font has it.
  const { issues } = await render(rendering("pdf", [block("paragraph", "\u{f1234}")]));
  expect(issues.join()).toMatch(/f1234/i);
});

describe("hostile content", () => {
  const hostile: readonly Block[] = [
    block("paragraph", '<script>alert(1)</script>#read("/etc/passwd") = *x* $y$ ]]> &lol;'),
    block("paragraph", [
      { type: "link", href: "java\tscript:alert(1)", content: [text("js") as never] },
      { type: "link", href: "data:text/html,<script>", content: [text("data") as never] },
    ]),
    block("heading", '"><img src=x onerror=alert(1)>', { level: 999 }),
    block("image", undefined, { url: "javascript:alert(1)", caption: '" onerror="alert(1)' }),
    block("codeBlock", "```\n</code><script>", { language: '"><script>' }),
    block("callout", "\u0000\u0008\ud800 control", { emoji: "<b>" }),
    block("table", {
      type: "tableContent",
      columnWidths: [],
      headerRows: 9,
      headerCols: 9,
      rows: [
        { cells: [{ type: "tableCell", content: [text("a")], props: { colspan: 5000, rowspan: 7 } }] },
        { cells: [{ type: "tableCell", content: [text("b")], props: { backgroundColor: "url(x)" } }] },
      ],
    }),
    block("image", undefined, { url: `https://weft.example/media/${FOLDER}broken.png?x`, caption: "broken" }),
    block("image", undefined, { url: `/media/${FOLDER}huge.png`, caption: "huge" }),
    block("paragraph", [text("x", { textColor: "red;}</style><script>" })]),
  ];
  /** 60,000 x 60,000 pixels. */
  const huge = Buffer.from(PNG);
  huge.writeUInt32BE(60_000, 16);
  huge.writeUInt32BE(60_000, 20);
  const images = new Map([
    [
      `${FOLDER}broken.png`,
      { type: "image/png", bytes: Buffer.concat([PNG.subarray(0, 40), deflateSync("no")]) },
    ],
    [`${FOLDER}huge.png`, { type: "image/png", bytes: huge }],
  ]);

  it.each(["html", "markdown"] as const)("is text in %s", async (to) => {
    // Code is literal in Markdown.
    const given = to === "html" ? hostile : hostile.filter(({ type }) => type !== "codeBlock");
    const out = await shown(to, given, { images });
    expect(out).not.toMatch(
      /<script|<img[^>]*onerror|href="(?:java|data)|\]\((?:java|data)|<\/style><script/i,
    );
    expect(out).toContain("control");
  });

  it.each(["docx", "odt", "pdf"] as const)("is text in %s", async (to) => {
    const bytes = await written(to, hostile, { images });
    expect(bytes.length).toBeGreaterThan(1000);
    expect(Buffer.from(bytes).toString("latin1")).not.toContain("root:x:0");
  });
});
