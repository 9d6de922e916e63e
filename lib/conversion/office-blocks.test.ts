import { expect, it } from "vitest";
import { officeBlocks } from "./office-blocks.ts";
import { type Block, isLink, isText } from "./read-blocks.ts";

/** A block as `type: text [children]`. */
const shown = ({ type, content, children }: Block): string => {
  const text = Array.isArray(content)
    ? content.map((one) => (isText(one) ? one.text : isLink(one) ? `<${one.href}>` : "")).join("")
    : "";
  return `${type}: ${text}${children.length === 0 ? "" : ` [${children.map(shown).join("; ")}]`}`;
};

it("reads texts with their formats, links and line breaks", () => {
  const [block] = officeBlocks(
    '<p style="text-align:center">  a <strong>b<em>c</em></strong><br>d <a href="https://e.example/"><u>e</u></a> <a href="#mark">f</a></p>',
  );
  expect(block).toMatchObject({
    type: "paragraph",
    props: { textAlignment: "center" },
    content: [
      { text: "  a ", styles: {} },
      { text: "b", styles: { bold: true } },
      { text: "c", styles: { bold: true, italic: true } },
      { text: "\nd ", styles: {} },
      { type: "link", href: "https://e.example/", content: [{ text: "e", styles: { underline: true } }] },
      { text: " f", styles: {} },
    ],
  });
});

it("nests lists with their first numbers, and keeps other blocks of an item below it", () => {
  const blocks = officeBlocks(
    '<ol start="3"><li>a<ul><li>b</li></ul></li><li><p>c</p><p>d</p></li></ol><ul><li><h2>e</h2></li></ul>',
  );
  expect(blocks.map(shown)).toEqual([
    "numberedListItem: a [bulletListItem: b]",
    "numberedListItem: c [paragraph: d]",
    "bulletListItem:  [heading: e]",
  ]);
  expect(blocks.map(({ props }) => props["start"])).toEqual([3, undefined, undefined]);
});

it("puts images behind the text that contains them", () => {
  const image = '<img src="a.png" alt="A">';
  const blocks = officeBlocks(
    `<p>a${image}</p><p> ${image}</p><h1>${image}b</h1><table><tr><td><p>c</p>${image}</td></tr></table>`,
  );
  expect(blocks.map(shown)).toEqual([
    "paragraph: a",
    "image: ",
    "image: ",
    "heading: b",
    "image: ",
    "table: ",
    "image: ",
  ]);
  expect(blocks[1]?.props).toEqual({ url: "a.png", name: "A" });
});

it("reads the blocks in a cell as lines of one text, with spans and header rows", () => {
  const [table] = officeBlocks(
    "<table><thead><tr><th>a</th><th>b</th></tr></thead><tr></tr><tr><td colspan='2'><p>c</p><ul><li>d</li><li>e</li></ul></td></tr></table>",
  );
  expect(table?.content).toMatchObject({
    headerRows: 1,
    rows: [
      { cells: [{ content: [{ text: "a" }] }, { content: [{ text: "b" }] }] },
      { cells: [{ content: [{ text: "c\nd\ne" }], props: { colspan: 2 } }] },
    ],
  });
});

it("reads code as it is", () => {
  expect(officeBlocks("<pre>if (a)<br>  b;\n</pre><pre><code>c &lt; d</code></pre>")).toMatchObject([
    { type: "codeBlock", content: [{ text: "if (a)\n  b;\n" }] },
    { type: "codeBlock", content: [{ text: "c < d" }] },
  ]);
});
