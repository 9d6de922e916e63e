import { expect, it } from "vitest";
import { arrangeColumns } from "./columns.ts";
import { plainBlocks } from "./plain-blocks.ts";
import type { Block } from "./read-blocks.ts";

const block = (type: string, children: Block[] = [], content?: Block["content"]): Block => ({
  id: type,
  type,
  props: {},
  content,
  children,
});
const text = (of: string): Block => block("paragraph", [], [{ type: "text", text: of, styles: {} }]);
const column = (...children: Block[]): Block => block("column", children);
const list = (...children: Block[]): Block => block("columnList", children);

/** Types with their children, and texts. */
function outline(blocks: readonly Block[]): string {
  return blocks
    .map(({ type, content, children }) => {
      const words = Array.isArray(content) ? content.map((part) => ("text" in part ? part.text : "")) : [];
      const own = type === "paragraph" ? words.join("") : type;
      return children.length === 0 ? own : `${own}(${outline(children)})`;
    })
    .join(" ");
}

it.each([
  ["two columns", [list(column(text("a")), column(text("b")))], "columnList(column(a) column(b))"],
  ["a list of one", [list(column(text("a")))], "a"],
  [
    "an empty column",
    [list(column(text("a")), column(), column(text("b")))],
    "columnList(column(a) column(b))",
  ],
  ["a column alone", [column(text("a")), block("quote", [column(text("b"))])], "a quote(b)"],
  [
    "columns in columns",
    [list(column(list(column(text("a")), column(text("b")))), column(text("c")))],
    "columnList(column(a b) column(c))",
  ],
  ["another block in a list", [list(column(text("a")), text("b"), column(text("c")))], "a b c"],
  [
    "text in a column",
    [list(block("column", [], text("a").content), column(text("b")))],
    "columnList(column(a) column(b))",
  ],
])("%s: arranged as the schema requires, without losing text", (_, blocks, expected) => {
  expect(outline(arrangeColumns(blocks))).toBe(expected);
});

it("columns stay columns if the schema defines them", () => {
  const none = { content: "none", propSchema: {} };
  const blockSchema = { paragraph: { content: "inline", propSchema: {} }, columnList: none, column: none };
  const columns = [list(column(text("a")), column(text("b")))];
  expect(outline(plainBlocks(columns, { blockSchema, styleSchema: {} }))).toBe(
    "columnList(column(a) column(b))",
  );
  const { paragraph } = blockSchema;
  expect(outline(plainBlocks(columns, { blockSchema: { paragraph }, styleSchema: {} }))).toBe("a b");
});
