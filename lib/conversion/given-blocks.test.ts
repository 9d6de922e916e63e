import { ServerBlockNoteEditor } from "@blocknote/server-util";
import { expect, it } from "vitest";
import { convert } from "./convert.ts";

const editor = ServerBlockNoteEditor.create();

const read = async (from: "blocks" | "yjs", bytes: Uint8Array): Promise<readonly object[]> =>
  JSON.parse(String(await convert({ from, bytes, to: "json" })));
const given = (blocks: unknown) => read("blocks", Buffer.from(JSON.stringify(blocks)));

it("blocks that omit what has a default are read as by the editor", async () => {
  const { encodeStateAsUpdate } = await import("yjs");
  const blocks = [
    { id: "a", content: "a text" },
    {
      id: "b",
      type: "heading",
      props: { level: 2, textColor: "red" },
      content: ["x", { type: "text", text: "y", styles: { bold: true } }],
    },
    {
      id: "c",
      type: "checkListItem",
      content: [{ type: "link", href: "https://a.example/", content: "a link" }],
      children: [{ id: "d", type: "bulletListItem", content: "below\nit" }],
    },
    {
      id: "e",
      type: "table",
      content: {
        type: "tableContent",
        headerRows: 1,
        columnWidths: [100, null],
        rows: [
          { cells: ["a", [{ type: "text", text: "b" }]] },
          { cells: ["", { type: "tableCell", content: "d", props: { colspan: 1 } }] },
        ],
      },
    },
    { id: "f", type: "image", props: { url: "https://a.example/a.png" } },
    { id: "g", type: "codeBlock", props: { language: "js" }, content: "let a;\nlet b;" },
  ];
  const state = encodeStateAsUpdate(editor.blocksToYDoc(blocks as never, "document-store"));
  expect(await given(blocks)).toEqual(await read("yjs", state));
});

it("types that the editor does not have are kept", async () => {
  const blocks = [
    { type: "callout", props: { emoji: "!" }, content: [{ type: "text", text: "care", styles: {} }] },
    { type: "pageBreak" },
    {
      type: "paragraph",
      content: [
        { type: "mention", props: { user: "u", name: "Ada" } },
        { type: "interlinkingLinkInline", props: { docId: "d", title: "t" } },
      ],
    },
  ];
  expect(await given(blocks)).toMatchObject(blocks);
});

it.each([
  ["no list", {}],
  ["a block that is no object", [1]],
  ["a type that is no name", [{ type: "a b" }]],
  ["content of another kind", [{ content: 1 }]],
  ["a text without text", [{ content: [{ type: "text" }] }]],
  ["a link without address", [{ content: [{ type: "link", content: "x" }] }]],
  ["a table without rows", [{ type: "table" }]],
  ["props that are no object", [{ props: [] }]],
])("refuses %s", async (_what, blocks) => {
  await expect(given(blocks)).rejects.toThrow(TypeError);
});
