import { ServerBlockNoteEditor } from "@blocknote/server-util";
import * as Y from "yjs";
import type { Conversion } from "../converter.ts";
import { lightWindow } from "./light-window.ts";
import { makeSafeForMarkdown, readEntities } from "./markdown-safe.ts";
import { type MarkupDocument, sanitise } from "./sanitise.ts";

/** The part of a document that editors write in. Reference 4.1. */
const FRAGMENT = "document-store";

/** The editor with its DOM. */
type WithDom = { jsdom: { window: { document: MarkupDocument } } };

/** Reads markup: its DOM, jsdom, takes it as browsers do. */
const editor = ServerBlockNoteEditor.create();
/** Writes it, which is all that takes long: a light DOM does it in less than half the time, and comes to the same. */
const writer = ServerBlockNoteEditor.create();
(writer as unknown as { jsdom: unknown }).jsdom = { window: lightWindow() };
type Block = ReturnType<typeof editor.yXmlFragmentToBlocks>[number];
/** What is made of content at most, characters. */
const MADE_MAX_LENGTH = 64 * 1024 * 1024;

/** Throws where the content is none that can be converted. */
export async function convert(conversion: Conversion): Promise<string | Uint8Array> {
  const made = await make(conversion);
  if (made.length > MADE_MAX_LENGTH) throw new RangeError("more would be made of it than may be");
  return made;
}

async function make({ from, bytes, to }: Conversion): Promise<string | Uint8Array> {
  if (to === "yjs") {
    const blocks = await editor.tryParseMarkdownToBlocks(new TextDecoder().decode(bytes));
    readEntities(blocks);
    return Y.encodeStateAsUpdate(editor.blocksToYDoc(blocks, FRAGMENT));
  }
  const blocks = from === "yjs" ? blocksOf(bytes) : paragraphs(bytes);
  switch (to) {
    case "json":
      return JSON.stringify(blocks);
    case "markdown":
      makeSafeForMarkdown(blocks);
      return writer.blocksToMarkdownLossy(blocks);
    default:
      return sanitise(
        await writer.blocksToHTMLLossy(blocks),
        (editor as unknown as WithDom).jsdom.window.document,
      );
  }
}

function blocksOf(state: Uint8Array): Block[] {
  const doc = new Y.Doc();
  Y.applyUpdate(doc, state);
  return editor.yXmlFragmentToBlocks(doc.getXmlFragment(FRAGMENT));
}

/** Blocks of which only some is said. */
type Parts = Parameters<typeof editor.blocksToYDoc>[0];

/** Each paragraph of a text, which empty lines come between; a line's end within one is kept. */
function paragraphs(bytes: Uint8Array): Block[] {
  const text = new TextDecoder().decode(bytes).replaceAll(/\r\n?/g, "\n");
  const parts = text.split(/\n(?:[ \t]*\n)+/).filter((part) => part.trim() !== "");
  if (parts.length === 0) return [];
  const blocks = parts.map((content) => ({ type: "paragraph", content: content.replace(/^\n+|\n+$/g, "") }));
  return editor.yDocToBlocks(editor.blocksToYDoc(blocks as Parts, FRAGMENT), FRAGMENT);
}
