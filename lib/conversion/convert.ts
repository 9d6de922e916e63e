import { ServerBlockNoteEditor } from "@blocknote/server-util";
import * as Y from "yjs";
import type { Conversion } from "./conversion.ts";
import { lightWindow } from "./light-window.ts";
import { makeSafeForMarkdown, readEntities } from "./markdown-safe.ts";
import { plainBlocks, splitTexts } from "./plain-blocks.ts";
import { type Block, paragraph, readBlocks } from "./read-blocks.ts";
import { createSanitizer } from "./sanitize.ts";
import { write } from "./write-nodes.ts";

/** The Yjs fragment that editors write to. Reference 4.1. */
const FRAGMENT = "document-store";

/** Reads markup with jsdom, which parses it as browsers do. */
const editor = ServerBlockNoteEditor.create();
/** Writes markup, the slow part: a light DOM takes less than half the time, with the same result. */
const writer = ServerBlockNoteEditor.create();
(writer as unknown as { jsdom: unknown }).jsdom = { window: lightWindow() };
const sanitize = createSanitizer((editor as unknown as { jsdom: { window: unknown } }).jsdom.window);
const { schema } = editor.editor;
/** Blocks as the editor's functions take them. */
type Blocks = Parameters<typeof editor.blocksToYDoc>[0];
/** Maximum length of the result, in characters. */
const MADE_MAX_LENGTH = 64 * 1024 * 1024;

/** Throws if the content cannot be converted. */
export async function convert(conversion: Conversion): Promise<string | Uint8Array> {
  const made = await make(conversion);
  if (made.length > MADE_MAX_LENGTH) throw new RangeError("more would be made of it than may be");
  return made;
}

async function make(conversion: Conversion): Promise<string | Uint8Array> {
  if (conversion.to === "yjs") return append(conversion);
  const { from, bytes, to } = conversion;
  const blocks = from === "yjs" ? blocksOf(bytes) : paragraphs(bytes);
  if (to === "json") return JSON.stringify(blocks);
  const plain = plainBlocks(blocks, schema) as Blocks;
  if (to === "markdown") {
    makeSafeForMarkdown(plain);
    return writer.blocksToMarkdownLossy(plain);
  }
  return sanitize(await writer.blocksToHTMLLossy(plain));
}

/** Appends blocks to a state without changing its content, like an edit of another user. */
async function append({ bytes, onto }: Extract<Conversion, { to: "yjs" }>): Promise<Uint8Array> {
  const blocks = await editor.tryParseMarkdownToBlocks(new TextDecoder().decode(bytes));
  readEntities(blocks);
  splitTexts(blocks);
  const doc = new Y.Doc();
  if (onto !== undefined) Y.applyUpdate(doc, onto);
  const fragment = doc.getXmlFragment(FRAGMENT);
  doc.transact(() => {
    const group = fragment.toArray().findLast(isGroup) ?? new Y.XmlElement("blockGroup");
    if (group.parent === null) fragment.push([group]);
    const made = editor._blocksToProsemirrorNode(blocks).firstChild;
    if (made !== null) write(group, made.content);
  });
  return Y.encodeStateAsUpdate(doc);
}

const isGroup = (node: unknown): node is Y.XmlElement =>
  node instanceof Y.XmlElement && node.nodeName === "blockGroup";

function blocksOf(state: Uint8Array): Block[] {
  const doc = new Y.Doc();
  Y.applyUpdate(doc, state);
  return readBlocks(doc.getXmlFragment(FRAGMENT), schema);
}

/** The paragraphs of a text, separated by empty lines; line breaks within one are kept. */
function paragraphs(bytes: Uint8Array): Block[] {
  const text = new TextDecoder().decode(bytes).replaceAll(/\r\n?/g, "\n");
  const parts = text.split(/\n(?:[ \t]*\n)+/).filter((part) => part.trim() !== "");
  return parts.map((part) =>
    paragraph(schema, [{ type: "text", text: part.replace(/^\n+|\n+$/g, ""), styles: {} }]),
  );
}
