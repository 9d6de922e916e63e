import { applyUpdate, Doc, XmlElement, type XmlFragment, XmlText } from "yjs";
import { FRAGMENT } from "../updates/seed.ts";
import type { TextPart } from "./text-parts.ts";

/** Attributes of blocks and inline nodes that an editor shows as text. */
const TEXT_ATTRIBUTES = ["title", "name", "caption", "user"] as const;
/** Elements below this depth are ignored: clients may nest them without limit. */
const DEPTH_MAX = 200;
/** The text of editor content by block. Throws if the bytes are not a Yjs update. */
export function editorParts(bytes: Uint8Array): TextPart[] {
  const doc = new Doc();
  applyUpdate(doc, bytes);
  const parts: TextPart[] = [];
  collect(doc.getXmlFragment(FRAGMENT), { block: null, field: "body", depth: 0 }, parts);
  return parts;
}

interface Position {
  readonly block: string | null;
  readonly field: "heading" | "body";
  readonly depth: number;
}

/** Adds the texts of an element; an element with content inside it, such as a cell of a table, is a part of its own. */
function collect(
  parent: XmlFragment | XmlElement,
  { block, field, depth }: Position,
  parts: TextPart[],
): void {
  if (depth > DEPTH_MAX) return;
  let text = "";
  const flush = (): void => {
    if (text.trim() !== "") parts.push({ field, source: block, text });
    text = "";
  };
  for (const node of parent.toArray()) {
    if (node instanceof XmlText) text += textOf(node);
    else if (node instanceof XmlElement) {
      if (node.nodeName === "hardBreak") text += "\n";
      text += shownAttributes(node);
      if (node.length === 0) continue;
      flush();
      collect(node, { ...positionOf(node, { block, field }), depth: depth + 1 }, parts);
    }
  }
  flush();
}

function positionOf(node: XmlElement, { block, field }: Omit<Position, "depth">): Omit<Position, "depth"> {
  if (node.nodeName === "heading") return { block, field: "heading" };
  if (node.nodeName !== "blockContainer") return { block, field };
  const id: unknown = node.getAttribute("id");
  return { block: typeof id === "string" ? id : block, field: "body" };
}

function textOf(node: XmlText): string {
  const pieces = node.toDelta() as readonly { readonly insert: unknown }[];
  return pieces.map(({ insert }) => (typeof insert === "string" ? insert : " ")).join("");
}

function shownAttributes(node: XmlElement): string {
  const shown = TEXT_ATTRIBUTES.map((name): unknown => node.getAttribute(name)).filter(
    (value) => typeof value === "string" && value !== "",
  );
  return shown.length === 0 ? "" : ` ${shown.join(" ")} `;
}

const HEADING = /^#{1,6} /;

/** The text of plain content by line. Scripts write mostly Markdown. */
export function plainParts(text: string): TextPart[] {
  return text
    .split("\n")
    .map((line) => ({ field: HEADING.test(line) ? "heading" : "body", source: null, text: line }));
}
