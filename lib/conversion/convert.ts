import { ServerBlockNoteEditor } from "@blocknote/server-util";
import * as Y from "yjs";
import { ArchiveError } from "../archives/read-zip.ts";
import { nodesOfBlocks } from "./block-nodes.ts";
import { arrangeColumns } from "./columns.ts";
import { ContentError } from "./content-error.ts";
import type { Conversion, EditorFormat } from "./conversion.ts";
import {
  type EditorNode,
  type ElementNode,
  insertNodes,
  isElement,
  readTree,
  type TreeNode,
  treeOf,
  type WritableNode,
} from "./document-tree.ts";
import { readDocx } from "./docx.ts";
import { editTree, type Kept } from "./edit-tree.ts";
import { loadEditorWriters } from "./editor-writers.ts";
import { readFrontMatter } from "./front-matter.ts";
import { givenBlocks } from "./given-blocks.ts";
import { hoistImages } from "./hoist-images.ts";
import { encodePage, type ImportedPage } from "./imported-page.ts";
import { lightWindow } from "./light-window.ts";
import { markdownBlocks } from "./markdown-blocks.ts";
import { makeSafeForMarkdown, readEntities, removeUnsafeUrls } from "./markdown-safe.ts";
import { appendBlocks, MARKDOWN_KEEPS, mergeBlocks } from "./merge-blocks.ts";
import { readOdt } from "./odt.ts";
import { officeBlocks } from "./office-blocks.ts";
import { collectContent, findChecklists, isEmbedded, withoutTitle, withUrls } from "./page-content.ts";
import { plainBlocks, splitTexts } from "./plain-blocks.ts";
import { type Block, paragraph, readBlocks } from "./read-blocks.ts";
import { createSanitizer } from "./sanitize.ts";

/** The Yjs fragment that editors write to. Reference 4.1. */
const FRAGMENT = "document-store";

/** The editor's writers and columns, if this process was started with PUBLISH_AS_MIT=false. */
const writers = process.env["PUBLISH_AS_MIT"] === "false" ? await loadEditorWriters() : undefined;
const options =
  writers === undefined ? {} : { schema: writers.withColumns(ServerBlockNoteEditor.create().editor.schema) };
/** Reads markup with jsdom, which parses it as browsers do. */
const editor = ServerBlockNoteEditor.create(options);
/** Writes markup, the slow part: a light DOM takes less than half the time, with the same result. */
const writer = ServerBlockNoteEditor.create(options);
(writer as unknown as { jsdom: unknown }).jsdom = { window: lightWindow() };
const sanitize = createSanitizer((editor as unknown as { jsdom: { window: unknown } }).jsdom.window);
const { schema } = editor.editor;
/** Blocks as the editor's functions take them. */
type Blocks = Parameters<typeof editor.blocksToYDoc>[0];
/** A Yjs state expresses everything. */
const NOTHING_KEPT: Kept = { mark: () => false, attribute: () => false };
/** Maximum length of the result, in characters. */
const MADE_MAX_LENGTH = 64 * 1024 * 1024;

/** Throws if the content cannot be converted: ContentError if the user can be told why. */
export async function convert(conversion: Conversion): Promise<string | Uint8Array> {
  const made = await make(conversion).catch((error: unknown) => {
    throw error instanceof ArchiveError ? new ContentError(error.message, { cause: error }) : error;
  });
  if (made.length > MADE_MAX_LENGTH) throw new RangeError("the result is too large");
  return made;
}

async function make(conversion: Conversion): Promise<string | Uint8Array> {
  if (conversion.to === "update") return edit(conversion);
  if (conversion.to === "page") return importPage(conversion);
  if (conversion.to === "yjs" && conversion.from === "yjs")
    return replaceUrls(conversion.bytes, conversion.urls);
  const { from, bytes, to } = conversion;
  const blocks = await readContent(from, bytes);
  if (to === "yjs") return newState(blocks);
  if (to === "json") return JSON.stringify(blocks);
  const known = plainBlocks(writers === undefined ? blocks : arrangeColumns(blocks), schema);
  if (to !== "markdown" && to !== "html") return writeAsEditor(to, known);
  const plain = known as Blocks;
  if (to === "markdown") {
    makeSafeForMarkdown(plain);
    return writer.blocksToMarkdownLossy(plain);
  }
  return sanitize(await writer.blocksToHTMLLossy(plain));
}

async function writeAsEditor(format: EditorFormat, blocks: readonly Block[]): Promise<Uint8Array> {
  if (writers === undefined) throw new TypeError("this installation does not have the editor's writers");
  removeUnsafeUrls(blocks);
  return writers.write(format, blocks, schema);
}

async function readContent(from: Conversion["from"], bytes: Uint8Array): Promise<Block[]> {
  if (from === "yjs") return blocksOf(bytes);
  if (from === "markdown") return (await parseMarkdown(bytes)) as unknown as Block[];
  if (from === "blocks") return blocksOf(newState(parseBlocks(bytes)));
  return paragraphs(bytes);
}

/** The content of a file as a new document, with what it contains besides text. */
async function importPage({ from, bytes, title }: Extract<Conversion, { to: "page" }>): Promise<Uint8Array> {
  if (from === "markdown") {
    const { matter, text } = readFrontMatter(decodeText(bytes));
    const blocks = await markdownBlocks(text, parseHtml);
    return page(matter === undefined ? withoutTitle(blocks, title) : blocks, { ...matter });
  }
  if (from === "plain") return page(paragraphs(bytes));
  if (from === "blocks") return page(blocksOf(newState(parseBlocks(bytes))));
  if (from === "html") return page(withoutTitle(await parseHtml(decodeText(bytes)), title));
  const { html, ...office } = await (from === "odt" ? readOdt : readDocx)(bytes);
  return page(findChecklists(officeBlocks(html)), office);
}

function page(
  blocks: Block[],
  { files = [], skipped = [], ...matter }: Partial<Omit<ImportedPage, "state" | "urls">> = {},
): Uint8Array {
  const content = collectContent(blocks);
  return encodePage({
    ...matter,
    state: newState(blocks),
    files: [...files, ...content.files],
    urls: content.urls.filter((url) => !isEmbedded(url)),
    skipped: [...skipped, ...content.skipped],
  });
}

/** The state of a new document with the same nodes, in which URLs are replaced. */
function replaceUrls(state: Uint8Array, urls: Readonly<Record<string, string>>): Uint8Array {
  const doc = new Y.Doc();
  Y.applyUpdate(doc, state);
  return stateWith(...withUrls(readTree(doc.getXmlFragment(FRAGMENT)), new Map(Object.entries(urls))));
}

/** The state of a new document. */
const newState = (blocks: readonly Block[]): Uint8Array => stateWith(nodesOfBlocks(blocks, schema));

function stateWith(...nodes: readonly WritableNode[]): Uint8Array {
  const doc = new Y.Doc();
  doc.transact(() => insertNodes(doc.getXmlFragment(FRAGMENT), null, nodes));
  return Y.encodeStateAsUpdate(doc);
}

/** Changes a document like an edit of another user, and returns only the change. */
async function edit(conversion: Extract<Conversion, { to: "update" }>): Promise<Uint8Array> {
  const { from, bytes, base, append = false } = conversion;
  const doc = new Y.Doc();
  Y.applyUpdate(doc, base);
  const fragment = doc.getXmlFragment(FRAGMENT);
  const current = readTree(fragment);
  const changes: Uint8Array[] = [];
  doc.on("update", (change: Uint8Array) => changes.push(change));
  if (from === "yjs") {
    if (append) throw new TypeError("a Yjs state cannot be appended");
    const other = new Y.Doc();
    Y.applyUpdate(other, bytes);
    const nodes = readTree(other.getXmlFragment(FRAGMENT));
    // Without the group, each connected editor would create its own.
    const wanted = isWithoutBlocks(nodes) && !isWithoutBlocks(current) ? [groupOf([])] : nodes;
    doc.transact(() => editTree(fragment, current, wanted, NOTHING_KEPT));
    return changes[0] ?? new Uint8Array();
  }
  const blocks = from === "plain" ? paragraphs(bytes) : await parseMarkdown(bytes);
  const put = append ? appendBlocks : mergeBlocks;
  const wanted = put({ current, blocks: blocks as Block[], group: groupOf(blocks as Blocks), schema });
  doc.transact(() => editTree(fragment, current, wanted, MARKDOWN_KEEPS));
  return changes[0] ?? new Uint8Array();
}

async function parseMarkdown(bytes: Uint8Array): Promise<Blocks> {
  const text = new TextDecoder().decode(bytes);
  if (text.trim() === "") return [];
  const blocks = await editor.tryParseMarkdownToBlocks(text);
  readEntities(blocks);
  splitTexts(blocks);
  return blocks;
}

async function parseHtml(html: string): Promise<Block[]> {
  // The editor expects code blocks as Markdown renders them.
  const safe = hoistImages(sanitize(html)).replaceAll(
    /<pre>(?!<code)([\s\S]*?)<\/pre>/g,
    "<pre><code>$1</code></pre>",
  );
  if (safe.trim() === "") return [];
  const blocks = await editor.tryParseHTMLToBlocks(safe);
  splitTexts(blocks);
  return blocks as unknown as Block[];
}

/** Blocks of another program, as JSON. Throws for anything else. */
function parseBlocks(bytes: Uint8Array): Block[] {
  return givenBlocks(JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)));
}

/** Text of a file: UTF-8, or UTF-16 with a byte order mark. Throws ContentError for other encodings. */
function decodeText(bytes: Uint8Array): string {
  const encoding =
    bytes[0] === 0xff && bytes[1] === 0xfe
      ? "utf-16le"
      : bytes[0] === 0xfe && bytes[1] === 0xff
        ? "utf-16be"
        : "utf-8";
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    throw new ContentError("Its encoding is neither UTF-8 nor UTF-16.");
  }
}

/** The group of blocks as an editor writes it. Without blocks, it has an empty one, which editors need. */
function groupOf(blocks: Blocks): ElementNode {
  const written = editor._blocksToProsemirrorNode(blocks.length > 0 ? blocks : [{ type: "paragraph" }]);
  const group = treeOf(written as unknown as EditorNode).find(isElement);
  if (group === undefined) throw new TypeError("the editor wrote no blocks");
  return group;
}

const isWithoutBlocks = (nodes: readonly TreeNode[]): boolean =>
  !nodes.some((node) => isElement(node) && node.children.length > 0);

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
