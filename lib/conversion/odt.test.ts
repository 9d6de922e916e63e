import { describe, expect, it } from "vitest";
import { render } from "../export/render.ts";
import { PNG } from "../testing/test-attachments.ts";
import { zipOf } from "../testing/test-imports.ts";
import { convert } from "./convert.ts";
import { decodePage } from "./imported-page.ts";
import { type Block, isText, type TableContent } from "./read-blocks.ts";

const MIMETYPE = "application/vnd.oasis.opendocument.text";
const STYLES = `<?xml version="1.0" encoding="UTF-8"?><office:document-styles><office:font-face-decls><style:font-face style:name="Fixed" svg:font-family="'Liberation Mono'" style:font-pitch="fixed"/></office:font-face-decls><office:styles>
<style:style style:name="Standard" style:family="paragraph"/>
<style:style style:name="Preformatted_20_Text" style:display-name="Preformatted Text" style:family="paragraph" style:parent-style-name="Standard"><style:text-properties style:font-name="Fixed"/></style:style>
<style:style style:name="Quotations" style:family="paragraph" style:parent-style-name="Standard"/>
<style:style style:name="Strong_20_Emphasis" style:family="text"><style:text-properties fo:font-weight="bold"/></style:style>
<style:style style:name="Internet_20_link" style:family="text"><style:text-properties style:text-underline-style="solid"/></style:style>
</office:styles></office:document-styles>`;
const AUTOMATIC = `
<style:style style:name="P1" style:family="paragraph" style:parent-style-name="Preformatted_20_Text"/>
<style:style style:name="P2" style:family="paragraph" style:parent-style-name="Standard"><style:paragraph-properties fo:text-align="center"/></style:style>
<style:style style:name="T1" style:family="text"><style:text-properties style:font-name="Fixed"/></style:style>
<style:style style:name="T2" style:family="text" style:parent-style-name="Strong_20_Emphasis"><style:text-properties fo:font-style="italic"/></style:style>
<text:list-style style:name="L1"><text:list-level-style-bullet text:level="1"/><text:list-level-style-number text:level="2" style:num-format="1"/></text:list-style>
<text:list-style style:name="L2"><text:list-level-style-number text:level="1" style:num-format="1" text:start-value="4"/></text:list-style>`;

/** A document as LibreOffice writes it, with this text. */
const documentOf = (body: string, more: Readonly<Record<string, string | Uint8Array>> = {}) =>
  zipOf({
    mimetype: MIMETYPE,
    "styles.xml": STYLES,
    "content.xml": `<?xml version="1.0" encoding="UTF-8"?><office:document-content><office:scripts/><office:font-face-decls/><office:automatic-styles>${AUTOMATIC}</office:automatic-styles><office:body><office:text>${body}</office:text></office:body></office:document-content>`,
    ...more,
  });

const read = async (bytes: Uint8Array) =>
  decodePage((await convert({ from: "odt", bytes, to: "page" })) as Uint8Array);
const markdownIn = async (state: Uint8Array): Promise<string> =>
  String(await convert({ from: "yjs", bytes: state, to: "markdown" }));
const blocksIn = async (state: Uint8Array): Promise<Block[]> =>
  JSON.parse(String(await convert({ from: "yjs", bytes: state, to: "json" })));
const markdownOf = async (body: string): Promise<string> =>
  markdownIn((await read(await documentOf(body))).state);

describe("an OpenDocument text", () => {
  it("keeps headings, formats of inherited styles, links, and white space as the format defines it", async () => {
    const markdown = await markdownOf(
      `<text:sequence-decls><text:sequence-decl text:name="Figure"/></text:sequence-decls>
      <text:h text:outline-level="2">A <text:span text:style-name="Strong_20_Emphasis">heading</text:span></text:h>
      <text:p text:style-name="P2">
        one<text:s text:c="2"/>two <text:span text:style-name="T2">both</text:span> <text:span text:style-name="T1">code</text:span>
        <text:a xlink:href="https://e.example/?a=1&amp;b=2" text:style-name="Internet_20_link"><text:span text:style-name="Internet_20_link">link</text:span></text:a><text:a xlink:href="javascript:alert(1)"> none</text:a>
      </text:p>
      <text:p/>
      <text:p text:style-name="Quotations">quoted<text:line-break/>words</text:p>
      <text:p text:style-name="P1">if (a &lt; b)</text:p><text:p text:style-name="P1"><text:s text:c="2"/>return;</text:p>`,
    );
    expect(markdown).toBe(
      "## A **heading**\n\none  two ***both*** `code` [link](https://e.example/?a=1&b=2) none\n\n> quoted\\\n> words\n\n" +
        "```text\nif (a < b)\n  return;\n```\n",
    );
  });

  it("keeps nested lists with their numbers, checklists, and headings that are numbered as lists", async () => {
    const item = (content: string): string => `<text:list-item>${content}</text:list-item>`;
    const inner = `<text:list>${item("<text:p>one</text:p>")}${item("<text:p>two</text:p>")}</text:list>`;
    const markdown = await markdownOf(
      `<text:list text:style-name="L1">${item(`<text:p>a</text:p>${inner}`)}${item("<text:p>☑ b</text:p>")}</text:list>
      <text:list text:style-name="L2">${item("<text:p>four</text:p>")}</text:list>
      <text:list text:style-name="L2">${item('<text:h text:outline-level="1">Heading</text:h>')}</text:list>
      <text:list text:style-name="L2" text:continue-numbering="true">${item("<text:p>five</text:p>")}</text:list>
      <text:p>☐ open</text:p>`,
    );
    expect(markdown).toBe(
      "* a\n  1. one\n  2. two\n* [x] b\n\n4. four\n\n# Heading\n\n5. five\n\n* [ ] open\n",
    );
  });

  it("keeps tables with header rows and spans", async () => {
    const cell = (content: string, attributes = ""): string =>
      `<table:table-cell ${attributes}>${content}</table:table-cell>`;
    const { state } = await read(
      await documentOf(
        `<table:table><table:table-column table:number-columns-repeated="2"/>
        <table:table-header-rows><table:table-row>${cell("<text:p>Name</text:p>")}${cell("<text:p>Age</text:p>")}</table:table-row></table:table-header-rows>
        <table:table-row>${cell("<text:p>Ada</text:p><text:p>Lovelace</text:p>")}${cell("<text:p>36</text:p>")}</table:table-row>
        <table:table-row>${cell("<text:p>both</text:p>", 'table:number-columns-spanned="2"')}<table:covered-table-cell/></table:table-row></table:table>`,
      ),
    );
    const [table] = await blocksIn(state);
    const content = table?.content as TableContent | undefined;
    const texts = content?.rows.map(({ cells }) =>
      cells.map(({ content }) => (isText(content[0]) ? content[0].text : "")),
    );
    expect(table).toMatchObject({ type: "table", content: { headerRows: 1 } });
    expect(texts).toEqual([["Name", "Age"], ["Ada\nLovelace", "36"], ["both"]]);
  });

  it("takes out images, and the texts of boxes and notes; leaves out comments, deleted text and what is linked", async () => {
    const image = (href: string): string =>
      `<draw:frame><draw:image xlink:href="${href}"/><svg:desc>A picture</svg:desc></draw:frame>`;
    const { state, files, skipped } = await read(
      await documentOf(
        `<text:tracked-changes><text:changed-region><text:deletion><text:p>deleted</text:p></text:deletion></text:changed-region></text:tracked-changes>
        <text:p>before${image("Pictures/a.png")}</text:p>
        <text:p><draw:frame><draw:text-box><text:p>boxed</text:p></draw:text-box></draw:frame>anchor<office:annotation><text:p>comment</text:p></office:annotation></text:p>
        <text:p>noted<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>the note</text:p></text:note-body></text:note></text:p>
        <text:p>${image("http://127.0.0.1:1/linked.png")}</text:p>`,
        { "Pictures/a.png": PNG },
      ),
    );
    expect(files.map(({ name, bytes }) => [name, Buffer.from(bytes).equals(PNG)])).toEqual([
      ["image-1.png", true],
    ]);
    expect(skipped).toEqual(["A comment", "A linked image"]);
    const markdown = await markdownIn(state);
    expect(markdown.replace(/%00embedded/, "files")).toBe(
      "before\n\n![A picture](files/image-1.png)\n\nanchor\n\nboxed\n\nnoted[1\\]\n\n[1] the note\n",
    );
  });

  it("is read as our own export writes it", async () => {
    let id = 0;
    const block = (type: string, text: string, props = {}, children: object[] = []): object => {
      id += 1;
      return { id: `b${id}`, type, props, content: [{ type: "text", text, styles: {} }], children };
    };
    const { bytes } = await render({
      to: "odt",
      title: "The title",
      language: "en",
      blocks: JSON.stringify([
        block("heading", "Chapter", { level: 1 }),
        block("paragraph", "text"),
        block("bulletListItem", "outer", {}, [block("bulletListItem", "inner")]),
        block("numberedListItem", "one"),
        block("checkListItem", "done", { checked: true }),
        block("codeBlock", "a;\nb;", { language: "js" }),
      ]),
      images: new Map(),
      documents: new Map(),
      baseUrl: "https://weft.example",
      comments: [],
    });
    expect(await markdownIn((await read(bytes)).state)).toBe(
      "# The title\n\n## Chapter\n\ntext\n\n* outer\n  * inner\n\n1. one\n\n* [x] done\n\n```text\na;\nb;\n```\n",
    );
  });

  it("is refused if it declares a document type, is encrypted, nested too deeply, or another kind of file", async () => {
    const refusal = async (bytes: Promise<Uint8Array>): Promise<string> =>
      read(await bytes).then(
        () => "imported",
        (error: Error) => error.message,
      );
    const entities = '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><a>&e;</a>';
    expect(await refusal(documentOf("", { "content.xml": entities }))).toContain("document type");
    const deep = `${"<text:section>".repeat(300)}<text:p>x</text:p>${"</text:section>".repeat(300)}`;
    expect(await refusal(documentOf(deep))).toContain("nested too deeply");
    const lock = "<manifest:file-entry><manifest:encryption-data/></manifest:file-entry>";
    expect(await refusal(documentOf("", { "META-INF/manifest.xml": lock }))).toContain("encrypted");
    expect(
      await refusal(documentOf("", { mimetype: "application/vnd.oasis.opendocument.spreadsheet" })),
    ).toContain("not an OpenDocument text");
    expect(await refusal(documentOf("", { "Pictures/a.png": Buffer.alloc(60_000_000) }))).toContain(
      "unpacks to more",
    );
  });

  it("cannot be made large by counts and numbers", async () => {
    const markdown = await markdownOf(
      `<text:p>a<text:s text:c="999999999"/>b</text:p>
      <table:table><table:table-column table:number-columns-repeated="999999999"/><table:table-row table:number-rows-repeated="999999999"><table:table-cell table:number-columns-spanned="999999999" table:number-columns-repeated="999999999"><text:p>x</text:p></table:table-cell></table:table-row></table:table>`,
    );
    expect(markdown.length).toBeLessThan(20_000);
    expect(markdown).toContain("| x");
  });
});
