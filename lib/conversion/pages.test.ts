import { ServerBlockNoteEditor } from "@blocknote/server-util";
import { Document, ImageRun, Packer, Paragraph, TextRun } from "docx";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as Y from "yjs";
import { PNG } from "../testing/test-attachments.ts";
import { zipOf } from "../testing/test-imports.ts";
import { nodesOfBlocks } from "./block-nodes.ts";
import type { ImportFormat } from "./conversion.ts";
import { convert } from "./convert.ts";
import { insertNodes } from "./document-tree.ts";
import { decodePage, encodePage } from "./imported-page.ts";
import type { Block } from "./read-blocks.ts";

const FRAGMENT = "document-store";
const editor = ServerBlockNoteEditor.create();

const imported = async (from: ImportFormat, content: string | Uint8Array, title?: string) => {
  const bytes = Buffer.from(content as string);
  const named = title === undefined ? {} : { title };
  return decodePage((await convert({ from, bytes, to: "page", ...named })) as Uint8Array);
};
const blocksIn = async (state: Uint8Array) =>
  JSON.parse(String(await convert({ from: "yjs", bytes: state, to: "json" })));
const markdownIn = async (state: Uint8Array) =>
  String(await convert({ from: "yjs", bytes: state, to: "markdown" }));

const words = fc.lorem({ maxCount: 4 });
const styles = fc.record(
  { bold: fc.constant(true), code: fc.constant(true), textColor: fc.constantFrom("red", "blue") },
  { requiredKeys: [] },
);
const styled = fc.record({ type: fc.constant("text"), text: fc.oneof(words, fc.constant("a\nb")), styles });
const link = fc.record({
  type: fc.constant("link"),
  href: fc.webUrl(),
  content: fc.array(styled, { minLength: 1, maxLength: 2 }),
});
const inline = fc.array(fc.oneof(styled, link), { maxLength: 3 });
const cell = fc.record({
  type: fc.constant("tableCell"),
  content: fc.tuple(fc.record({ type: fc.constant("text"), text: words, styles })),
  props: fc.constant({}),
});
const leaf = fc.oneof(
  fc.record({
    type: fc.constantFrom("paragraph", "bulletListItem", "numberedListItem", "toggleListItem", "quote"),
    props: fc.constant({}),
    content: inline,
  }),
  fc.record({
    type: fc.constant("heading"),
    props: fc.record({ level: fc.integer({ min: 1, max: 6 }) }),
    content: inline,
  }),
  fc.record({
    type: fc.constant("checkListItem"),
    props: fc.record({ checked: fc.boolean() }),
    content: inline,
  }),
  fc.record({
    type: fc.constant("codeBlock"),
    props: fc.constant({ language: "js" }),
    content: fc.tuple(
      fc.record({ type: fc.constant("text"), text: fc.constant("a\nb"), styles: fc.constant({}) }),
    ),
  }),
  fc.record({ type: fc.constantFrom("divider"), props: fc.constant({}) }),
  fc.record({ type: fc.constantFrom("image", "file"), props: fc.record({ url: fc.webUrl(), name: words }) }),
  fc.record({
    type: fc.constant("table"),
    props: fc.constant({}),
    content: fc.record({
      type: fc.constant("tableContent"),
      columnWidths: fc.constant([undefined, undefined]),
      headerRows: fc.constantFrom(undefined, 1),
      headerCols: fc.constant(undefined),
      rows: fc.array(fc.record({ cells: fc.tuple(cell, cell) }), { minLength: 1, maxLength: 3 }),
    }),
  }),
);
const blocks = fc.array(
  fc.tuple(leaf, fc.array(leaf, { maxLength: 2 })).map(([block, children]) => ({
    ...block,
    children: children.map((child) => ({ ...child, children: [] })),
  })),
  { minLength: 1, maxLength: 5 },
);

describe("a page", () => {
  it("consists of the nodes that an editor writes", () => {
    const withoutIds = (doc: Y.Doc): string =>
      doc
        .getXmlFragment(FRAGMENT)
        .toString()
        .replaceAll(/ id="[^"]*"| \w+="undefined"/g, "");
    fc.assert(
      fc.property(blocks, (given) => {
        const ours = new Y.Doc();
        const nodes = nodesOfBlocks(given as unknown as Block[], editor.editor.schema);
        insertNodes(ours.getXmlFragment(FRAGMENT), null, [nodes]);
        const theirs = editor.blocksToYDoc(given as Parameters<typeof editor.blocksToYDoc>[0], FRAGMENT);
        expect(withoutIds(ours)).toBe(withoutIds(theirs));
      }),
      { numRuns: 60 },
    );
  });

  it("is encoded without loss, and anything else is refused", () => {
    const page = {
      state: Buffer.from("state"),
      files: [{ url: "u", name: "n.png", bytes: Buffer.from([1, 2]) }],
      urls: ["a"],
      skipped: ["é"],
      title: "T",
    };
    expect(decodePage(encodePage(page))).toEqual(page);
    expect(() => decodePage(encodePage(page).subarray(0, -1))).toThrow(RangeError);
    expect(() => decodePage(Buffer.from("other content"))).toThrow();
  });
});

describe("Markdown", () => {
  it("keeps nested lists, tables, code, quotes and formats", async () => {
    const text =
      '# A *b*\n\n1. one\n   - two\n     - [x] three\n2. four\n\n> q1\n> q2\n\n| a | b |\n| - | :-: |\n| **1** | `2` |\n\n```ts\nx < 1\n```\n\n~~no~~ <u>under</u> <kbd>k</kbd> &lt;b&gt; <https://e.example/>\n\n---\n\n![alt](pic.png "cap")\n';
    const { state, urls } = await imported("markdown", text);
    expect(urls).toEqual(["pic.png"]);
    const found = await blocksIn(state);
    expect(found.map(({ type }: Block) => type)).toEqual(
      "heading numberedListItem numberedListItem quote table codeBlock paragraph divider image".split(" "),
    );
    expect(found[1].children[0]).toMatchObject({
      type: "bulletListItem",
      children: [{ type: "checkListItem", props: { checked: true } }],
    });
    expect(found[4].content.rows[1].cells[0].content).toMatchObject([{ text: "1", styles: { bold: true } }]);
    expect(found[5]).toMatchObject({ props: { language: "ts" }, content: [{ text: "x < 1" }] });
    expect(found[6].content).toMatchObject([
      { text: "no", styles: { strike: true } },
      { text: " " },
      { text: "under", styles: { underline: true } },
      { text: " k <b> " },
      { type: "link", href: "https://e.example/" },
    ]);
    expect(found[8].props).toMatchObject({ url: "pic.png", name: "alt", caption: "cap" });
  });

  it("returns the same text that the editor exports", async () => {
    const text =
      "# T\n\na **b** *c* ~~d~~ `e` [f](https://e.example/)\n\n* g\n  1. h\n* [ ] i\n\n> j\n\n```js\nk\n```\n\n***\n";
    expect(await markdownIn((await imported("markdown", text)).state)).toBe(text);
  });

  it("drops links and images that could run scripts, and keeps their text", async () => {
    const text =
      "[a](javascript:alert(1)) [b](JaVa&#x73;cript:alert(1)) [c](data:text/html,x) [d](vbscript:x) <a href='javascript:x'>e</a>\n\n![f](javascript:x)\n\n<script>alert(1)</script>\n\n<img src=x onerror=alert(1)>\n";
    const json = JSON.stringify(await blocksIn((await imported("markdown", text)).state));
    expect(json).not.toMatch(/script:|data:text|onerror|alert\(1\)<|<script/i);
    for (const kept of ["a", "b", "c", "d", "e"]) expect(json).toContain(`"text":"${kept}`.slice(0, 8));
  });

  it("takes the title, the position and the emoji of the front matter", async () => {
    const page = await imported(
      "markdown",
      "---\ntitle: A plan\nposition: 7\nemoji: 🐸\nother: [1]\n---\n\n# A plan\n",
      "x",
    );
    expect(page).toMatchObject({ title: "🐸 A plan", position: 7 });
    expect(await markdownIn(page.state)).toBe("# A plan\n");
    const bomb = await imported("markdown", "---\na: &a [x]\nb: *a\n---\ntext\n");
    expect(bomb.title).toBeUndefined();
    const divider = await imported("markdown", "---\n\ntext\n\n---\n");
    expect(await markdownIn(divider.state)).toBe("***\n\ntext\n\n***\n");
  });

  it("leaves out a first heading that repeats the title of a page of an archive", async () => {
    expect(await markdownIn((await imported("markdown", "# Plan\n\ntext\n", "Plan")).state)).toBe("text\n");
    expect(await markdownIn((await imported("markdown", "# Other\n", "Plan")).state)).toBe("# Other\n");
  });

  it("reads text that is nested a hundred levels deep", async () => {
    const quotes = await imported("markdown", `${"> ".repeat(100)}x\n`);
    expect(JSON.stringify(await blocksIn(quotes.state))).toContain("x");
    const lists = Array.from({ length: 100 }, (_, at) => `${"  ".repeat(at)}- ${at}`).join("\n");
    expect(JSON.stringify(await blocksIn((await imported("markdown", lists)).state))).toContain("99");
  }, 30_000);

  it("replaces URLs of links and images", async () => {
    const { state, urls } = await imported("markdown", "[a](b%20c.md#x) ![d](e.png)\n");
    expect(urls).toEqual(["b%20c.md#x", "e.png"]);
    const changed = await convert({
      from: "yjs",
      to: "yjs",
      bytes: state,
      urls: { "b%20c.md#x": "/docs/1/#x", "e.png": "/media/1" },
    });
    expect(await markdownIn(changed as Uint8Array)).toBe("[a](/docs/1/#x)\n\n![d](/media/1)\n");
  });
});

describe("an image within a text", () => {
  it("is moved behind the text, in HTML and in Word documents", async () => {
    const image = '<img src="https://e.example/a.png" alt="a > b">';
    const html = await imported(
      "html",
      `<p>one ${image} two</p><h2>${image}Three</h2><table><tr><td><p>four${image}</p></td></tr></table><p>${image}</p>`,
    );
    const shown = "![a > b](https://e.example/a.png)\n";
    expect((await markdownIn(html.state)).replaceAll(/\|.*\n/g, "")).toBe(
      `one  two\n\n${shown}\n## Three\n\n${shown}\n\n${shown}\n${shown}`,
    );
    const paragraph = new Paragraph({
      children: [
        new TextRun("before"),
        new ImageRun({ type: "png", data: PNG, transformation: { width: 1, height: 1 } }),
      ],
    });
    const word = await imported(
      "docx",
      await Packer.toBuffer(new Document({ sections: [{ children: [paragraph] }] })),
    );
    expect(await markdownIn(word.state)).toMatch(/^before\n\n!\[.*\]\(.*image-1\.png\)\n$/);
  });
});

describe("a Word document", () => {
  it("is refused if it declares a document type", async () => {
    const parts = (type: string) =>
      zipOf({
        "[Content_Types].xml": `<?xml version="1.0"?>${type}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`,
        "_rels/.rels": `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>`,
        "word/document.xml": `<?xml version="1.0"?>${type}<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>text</w:t></w:r></w:p></w:body></w:document>`,
      });
    expect(await markdownIn((await imported("docx", await parts(""))).state)).toBe("text\n");
    const entity = '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>';
    await expect(imported("docx", await parts(entity))).rejects.toThrow("document type");
  });

  it("is refused if it unpacks to too much", async () => {
    const bomb = await zipOf({
      "[Content_Types].xml": "<Types/>",
      "word/document.xml": Buffer.alloc(30_000_000),
    });
    await expect(imported("docx", bomb)).rejects.toThrow("unpacks to more");
    const many = await zipOf(
      Object.fromEntries(Array.from({ length: 5_001 }, (_, at) => [`word/${at}.xml`, ""])),
    );
    await expect(imported("docx", many)).rejects.toThrow("more than 5000 entries");
  }, 30_000);
});
