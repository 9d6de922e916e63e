import * as Y from "yjs";

const FRAGMENT = "document-store";
const AT_ONCE = 200;
const PARAGRAPH =
  "Le conseil a pris connaissance du rapport, et décide de la suite à lui donner avant l'été. ".repeat(3);

/** A Yjs state in the editor's format of at least `bytes` bytes; each seed gives a different state. */
export function stateOf(bytes: number, seed: number): Buffer {
  const doc = new Y.Doc();
  doc.clientID = seed + 1;
  const group = new Y.XmlElement("blockGroup");
  doc.getXmlFragment(FRAGMENT).insert(0, [group]);
  for (let number = 0; ; number += AT_ONCE) {
    const state = Y.encodeStateAsUpdate(doc);
    if (state.length >= bytes) return Buffer.from(state);
    // Estimates the remaining blocks from the size so far.
    const remaining =
      number === 0 ? AT_ONCE : Math.ceil(((bytes - state.length) * number) / state.length) + 1;
    const blocks = Array.from({ length: Math.max(1, remaining) }, (_, at) => blockOf(seed, number + at));
    group.push(blocks);
    number += blocks.length - AT_ONCE;
  }
}

function blockOf(seed: number, number: number): Y.XmlElement {
  const block = new Y.XmlElement("blockContainer");
  block.setAttribute("id", `${seed}-${number}`);
  const paragraph = new Y.XmlElement("paragraph");
  paragraph.setAttribute("textAlignment", "left");
  paragraph.insert(0, [new Y.XmlText(`${number}. ${PARAGRAPH}`)]);
  block.insert(0, [paragraph]);
  return block;
}

const SECTION = [
  "## Point de l'ordre du jour",
  "",
  "Le conseil prend **acte** du rapport, *sans réserve*, et le publie [ici](https://example.com/rapport).",
  "",
  "* première suite à donner",
  "* deuxième, **avant l'été**",
  "",
  "1. voter",
  "2. publier",
  "",
  "",
].join("\n");

/** Markdown of many short blocks with `bytes` bytes. */
export const markdownOf = (bytes: number): string =>
  Buffer.from(SECTION.repeat(Math.ceil(bytes / SECTION.length)))
    .subarray(0, bytes)
    .toString("utf8");

/** The Yjs state that the editor creates from Markdown. */
export async function stateOfMarkdown(text: string): Promise<Uint8Array> {
  const { ServerBlockNoteEditor } = await import("@blocknote/server-util");
  const editor = ServerBlockNoteEditor.create();
  return Y.encodeStateAsUpdate(editor.blocksToYDoc(await editor.tryParseMarkdownToBlocks(text), FRAGMENT));
}
