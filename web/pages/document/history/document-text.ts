import * as Y from "yjs";

/** Name of the part of a Yjs document with the text, by agreement with the server. */
export const FRAGMENT = "document-store";

/** Deeper elements are left out: they are not the editor's. */
const DEPTH_MAX = 100;

/** What is shown before the text of a block, by the type of the block. */
const MARKS: Readonly<Record<string, string>> = { bulletListItem: "• ", quote: "“" };
/** Elements that contain blocks, not text. */
const GROUPS = new Set(["blockGroup", "blockContainer", "columnList", "column"]);

/** The text of each block, in order, read without the editor's schema. A row of a table is one text. */
export function textsOf(document: Y.Doc): readonly string[] {
  const texts: string[] = [];
  const visit = (node: unknown, depth: number): void => {
    if (!(node instanceof Y.XmlElement) || depth > DEPTH_MAX) return;
    if (GROUPS.has(node.nodeName)) for (const child of node.toArray()) visit(child, depth + 1);
    else if (node.nodeName === "table")
      for (const row of node.toArray()) texts.push(cellsOf(row, depth + 1).join(" | "));
    else texts.push(markOf(node) + inlineTextOf(node, depth));
  };
  for (const node of document.getXmlFragment(FRAGMENT).toArray()) visit(node, 0);
  // The editor keeps an empty block at the end.
  while (texts.at(-1) === "") texts.pop();
  return texts;
}

/** A document with a stored state. Throws if the bytes are not a Yjs state. */
export function documentOf(state: Uint8Array): Y.Doc {
  const document = new Y.Doc();
  Y.applyUpdate(document, state);
  return document;
}

function markOf(block: Y.XmlElement): string {
  const attributes: Readonly<Record<string, unknown>> = block.getAttributes();
  switch (block.nodeName) {
    case "heading":
      return `${"#".repeat(Math.min(6, Number(attributes.level) || 1))} `;
    case "checkListItem":
      return attributes.checked === true ? "☑ " : "☐ ";
    case "numberedListItem":
      return "1. ";
    default:
      return typeof attributes.name === "string" && attributes.name !== ""
        ? `[${attributes.name}]`
        : (MARKS[block.nodeName] ?? "");
  }
}

const cellsOf = (row: unknown, depth: number): readonly string[] =>
  row instanceof Y.XmlElement ? row.toArray().map((cell) => inlineTextOf(cell, depth)) : [];

function inlineTextOf(node: unknown, depth: number): string {
  if (node instanceof Y.XmlText)
    return (node.toDelta() as readonly { readonly insert?: unknown }[])
      .map(({ insert }) => (typeof insert === "string" ? insert : ""))
      .join("");
  if (!(node instanceof Y.XmlElement) || depth > DEPTH_MAX) return "";
  if (node.nodeName === "hardBreak") return "\n";
  const { name, title }: Readonly<Record<string, unknown>> = node.getAttributes();
  if (node.nodeName === "mention") return `@${typeof name === "string" ? name : ""}`;
  if (node.nodeName === "interlinkingLinkInline" && typeof title === "string") return title;
  return node
    .toArray()
    .map((child) => inlineTextOf(child, depth + 1))
    .join("");
}
