import type { Block, Inline, LinkContent, StyledText, TableContent } from "./read-blocks.ts";

type Given = Readonly<Record<string, unknown>>;

/**
 * Blocks of another program, which may omit what has a default, as the editor accepts them: `"content": "text"`. Types
 * that the editor does not have are kept. Throws TypeError for anything that is not a list of blocks.
 */
export function givenBlocks(value: unknown): Block[] {
  return listOf(value, "a list of blocks").map((one) => {
    const { id, type = "paragraph", props, content, children } = objectOf(one, "a block");
    return {
      id: typeof id === "string" ? id : "",
      type: nameOf(type),
      props: { ...objectOf(props ?? {}, "props") },
      content: type === "table" ? tableOf(content) : contentOf(content),
      children: givenBlocks(children ?? []),
    };
  });
}

const contentOf = (content: unknown): Inline[] | undefined =>
  content === undefined || content === null ? undefined : inlineOf(content);

function inlineOf(content: unknown): Inline[] {
  if (typeof content === "string") return textsOf(content);
  return listOf(content, "content").flatMap((one): Inline[] => {
    if (typeof one === "string") return textsOf(one);
    const inline = objectOf(one, "inline content");
    if (inline["type"] === "text") return textsOf([inline]);
    if (inline["type"] === "link") {
      const { href, content: text } = inline;
      if (typeof href !== "string") throw new TypeError("a link has no href");
      return [{ type: "link", href, content: textsOf(text ?? []) } satisfies LinkContent];
    }
    const { type, props, content: inner } = inline;
    return [{ type: nameOf(type), props: { ...objectOf(props ?? {}, "props") }, content: contentOf(inner) }];
  });
}

function textsOf(content: unknown): StyledText[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content, styles: {} }];
  return listOf(content, "text").map((one) => {
    const { text, styles } = objectOf(one, "a text");
    if (typeof text !== "string") throw new TypeError("a text is not a string");
    return { type: "text", text, styles: { ...objectOf(styles ?? {}, "styles") } };
  });
}

function tableOf(content: unknown): TableContent {
  const { rows, columnWidths, headerRows, headerCols } = objectOf(content, "the content of a table");
  return {
    type: "tableContent",
    columnWidths: [...listOf(columnWidths ?? [], "columnWidths")],
    headerRows: typeof headerRows === "number" ? headerRows : undefined,
    headerCols: typeof headerCols === "number" ? headerCols : undefined,
    rows: listOf(rows, "rows").map((row) => ({
      cells: listOf(objectOf(row, "a row")["cells"], "cells").map((cell) => {
        const isCell = typeof cell === "object" && cell !== null && !Array.isArray(cell);
        const { content: text, props }: Given = isCell ? (cell as Given) : { content: cell };
        return {
          type: "tableCell",
          content: inlineOf(text ?? []),
          props: { ...objectOf(props ?? {}, "props") },
        };
      }),
    })),
  };
}

function nameOf(type: unknown): string {
  if (typeof type !== "string" || !/^\w[\w-]*$/.test(type)) throw new TypeError("a type is not a name");
  return type;
}

function listOf(value: unknown, what: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new TypeError(`${what} is not a list`);
  return value;
}

function objectOf(value: unknown, what: string): Given {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new TypeError(`${what} is not an object`);
  return value as Given;
}
