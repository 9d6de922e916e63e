import { type Doc, XmlElement, type XmlFragment, XmlText } from "yjs";
import type { Ports } from "../../platform/ports.ts";
import type { StoredDocument } from "../tables/documents.ts";
import { openWithLog } from "../updates/apply-log.ts";
import { readDocumentWithLog, readLatestVersion } from "../updates/read-log.ts";
import { FRAGMENT } from "../updates/seed.ts";
import { keepRecentContent, readRecentContent } from "./recent-contents.ts";
import type { TextPart } from "./text-parts.ts";

/** Attributes of blocks and inline nodes that an editor shows as text. */
const TEXT_ATTRIBUTES = ["title", "name", "caption", "user"] as const;
/** Elements below this depth are ignored: clients may nest them without limit. */
const DEPTH_MAX = 200;
/** Characters after which the rest of a content is not read: more than are indexed. */
const READ_MAX = 512 * 1024;

/** The text of a document's content by block or line. Content that is not a Yjs update has none. */
export async function readContentParts(
  deps: Pick<Ports, "tables" | "blobs" | "clock" | "log">,
  document: StoredDocument,
): Promise<TextPart[]> {
  const recent = await readRecentContent(deps, document);
  if (recent !== undefined) return editorParts(recent);
  const read = await readDocumentWithLog(deps, document.id, document);
  const { content } = read.document;
  if (content === undefined && read.entries.length === 0) return [];
  const base = await readLatestVersion(deps, read.document);
  if (content?.kind === "plain") return plainParts(Buffer.from(base ?? []).toString("utf8"));
  try {
    const doc = openWithLog(base, read.entries);
    const bytes = read.entries.reduce((sum, entry) => sum + entry.bytes, base?.length ?? 0);
    keepRecentContent(deps, read, { doc, bytes });
    return editorParts(doc);
  } catch (error) {
    deps.log.warn("the content of a document cannot be indexed", { document: document.id, error });
    return [];
  }
}

/** The text of editor content by block. */
function editorParts(doc: Doc): TextPart[] {
  const parts: TextPart[] = [];
  collect(doc.getXmlFragment(FRAGMENT), { block: null, field: "body", depth: 0 }, { parts, left: READ_MAX });
  return parts;
}

interface Reading {
  readonly parts: TextPart[];
  /** Characters that may still be read. */
  left: number;
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
  reading: Reading,
): void {
  if (depth > DEPTH_MAX || reading.left <= 0) return;
  let text = "";
  const flush = (): void => {
    if (text.trim() !== "") reading.parts.push({ field, source: block, text });
    reading.left -= text.length;
    text = "";
  };
  for (const node of parent.toArray()) {
    if (node instanceof XmlText) text += textOf(node);
    else if (node instanceof XmlElement) {
      if (node.nodeName === "hardBreak") text += "\n";
      text += shownAttributes(node);
      if (node.length === 0) continue;
      flush();
      collect(node, { ...positionOf(node, { block, field }), depth: depth + 1 }, reading);
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
  const name: unknown = node.nodeName === "mention" ? node.getAttribute("name") : undefined;
  // The user of a mention is an id, which nobody reads.
  if (typeof name === "string" && name !== "") return ` @${name} `;
  const shown = TEXT_ATTRIBUTES.map((name): unknown => node.getAttribute(name)).filter(
    (value) => typeof value === "string" && value !== "",
  );
  return shown.length === 0 ? "" : ` ${shown.join(" ")} `;
}

const HEADING = /^#{1,6} /;

/** The text of plain content by line. Scripts write mostly Markdown. */
function plainParts(text: string): TextPart[] {
  return text
    .slice(0, READ_MAX)
    .split("\n")
    .map((line) => ({ field: HEADING.test(line) ? "heading" : "body", source: null, text: line }));
}
