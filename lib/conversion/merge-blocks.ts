import { alignSequences } from "./align-sequences.ts";
import { type ElementNode, elementNode, isElement, type TreeNode } from "./document-tree.ts";
import type { Kept } from "./edit-tree.ts";
import { plainBlocks } from "./plain-blocks.ts";
import { type Block, type BlockSchema, type Inline, isLink, isText, readNode } from "./read-blocks.ts";

/** Blocks to put into a document. */
interface Given {
  /** The document's nodes. */
  readonly current: readonly TreeNode[];
  /** The blocks, and the group of their nodes in the same order. */
  readonly blocks: readonly Block[];
  readonly group: ElementNode;
  readonly schema: BlockSchema;
}

/** What Markdown expresses; a changed block keeps all other marks and attributes. */
const MARKS: ReadonlySet<string> = new Set(["bold", "italic", "strike", "code", "link"]);
const ATTRIBUTES: ReadonlySet<string> = new Set(["level", "checked", "language", "url", "name", "caption"]);
export const MARKDOWN_KEEPS: Kept = {
  mark: (name) => !MARKS.has(name),
  attribute: (name) => !ATTRIBUTES.has(name),
};
const LISTS: ReadonlySet<string> = new Set(["bulletListItem", "numberedListItem", "checkListItem"]);
/** Blocks that Markdown shows as another. */
const SHOWN_AS: Readonly<Record<string, string>> = {
  toggleListItem: "bulletListItem",
  audio: "file",
  video: "file",
};

/** Adds the blocks at the end. A document that consists of empty paragraphs gets them instead. */
export function appendBlocks({ current, blocks, group }: Given): readonly TreeNode[] {
  if (blocks.length === 0) return current;
  const last = lastGroup(current);
  if (last === undefined) return [...current, group];
  const kept = last.children.every(isEmptyParagraph) ? [] : last.children;
  return replaced(current, last, [...kept, ...group.children]);
}

/**
 * The document's nodes with the blocks as their content. Blocks that are shown as in the document stay as they are
 * there, with everything that Markdown cannot express, and so do blocks that are not shown at all.
 */
export function mergeBlocks({ current, blocks, group, schema }: Given): TreeNode[] {
  const last = lastGroup(current);
  if (last === undefined) return [group];
  if (last.children.every(isEmptyParagraph)) return [withChildren(last, group.children)];
  const units = last.children.map((node) => ({ node, keys: shownKeys(node, schema) }));
  const keys = units.flatMap((unit) => unit.keys);
  const pairs = new Map(
    alignSequences(
      keys,
      blocks.map((block) => keysOf(block).join("")),
    ),
  );
  const nodes: TreeNode[] = [];
  let [at, next] = [0, 0];
  /** Blocks in place of which others come, or which stay where they are. */
  let waiting: typeof units = [];
  const place = (end: number): void => {
    for (const unit of waiting)
      if (unit.keys.length === 0) nodes.push(unit.node);
      else if (next < end) nodes.push(...group.children.slice(next, ++next));
    nodes.push(...group.children.slice(next, end));
    waiting = [];
  };
  for (const unit of units) {
    const first = pairs.get(at);
    const isShown = unit.keys.length > 0 && first !== undefined;
    if (isShown && unit.keys.every((_key, nth) => pairs.get(at + nth) === first + nth)) {
      place(first);
      nodes.push(unit.node);
      next = first + unit.keys.length;
    } else waiting.push(unit);
    at += unit.keys.length;
  }
  place(group.children.length);
  return [withChildren(last, nodes)];
}

/** The group that editors show. */
const lastGroup = (nodes: readonly TreeNode[]): ElementNode | undefined =>
  nodes.filter(isElement).findLast(({ name }) => name === "blockGroup");

const withChildren = ({ name, attributes }: ElementNode, children: readonly TreeNode[]): ElementNode =>
  elementNode(name, attributes, children);

const replaced = (
  nodes: readonly TreeNode[],
  group: ElementNode,
  children: readonly TreeNode[],
): TreeNode[] => nodes.map((node) => (node === group ? withChildren(group, children) : node));

/** Whether a node is a block without content, as editors add one to an empty document. */
function isEmptyParagraph(node: TreeNode): boolean {
  if (!isElement(node) || node.name !== "blockContainer") return false;
  const [content, ...others] = node.children;
  if (content === undefined || !isElement(content) || content.name !== "paragraph" || others.length > 0)
    return false;
  return content.children.every((child) => !isElement(child) && child.runs.length === 0);
}

/** The keys of the Markdown blocks that show a node; none if nothing does. */
function shownKeys(node: TreeNode, schema: BlockSchema): string[] {
  if (!isElement(node) || node.type === undefined) return [];
  return plainBlocks(readNode(node.type, schema), schema).flatMap(keysOf);
}

/** Keys that are equal for blocks that Markdown shows alike. Only the children of list items are nested there. */
function keysOf(block: Block): string[] {
  const { type, props, content } = block;
  const children = block.children.flatMap(keysOf);
  const text = isTable(content)
    ? content.rows.map(({ cells }) => cells.map((cell) => inlineKey(cell.content)))
    : inlineKey(content ?? []);
  if (type === "paragraph" && text === "[]") return children;
  const { level, checked = false, language, url } = props;
  const shownProps = {
    ...(type === "heading" ? { level } : {}),
    ...(type === "checkListItem" ? { checked } : {}),
    ...(type === "codeBlock" ? { language } : {}),
    ...(url === undefined || url === "" ? {} : { url }),
  };
  const shown = SHOWN_AS[type] ?? type;
  if (LISTS.has(shown)) return [JSON.stringify([shown, shownProps, text, children])];
  return [JSON.stringify([shown, shownProps, text]), ...children];
}

const isTable = (content: Block["content"]): content is Exclude<Block["content"], Inline[] | undefined> =>
  content !== undefined && !Array.isArray(content);

/** The text with the styles that Markdown expresses; spaces count as one. */
function inlineKey(content: readonly Inline[]): string {
  const runs: { text: string; readonly style: string }[] = [];
  const add = (inline: Inline, href: string): void => {
    if (isLink(inline)) for (const text of inline.content) add(text, inline.href);
    if (!isText(inline)) return;
    const style = JSON.stringify([href, ...[...MARKS].filter((name) => inline.styles[name] === true)]);
    const last = runs.at(-1);
    if (last?.style === style) last.text += inline.text;
    else runs.push({ text: inline.text, style });
  };
  for (const inline of content) add(inline, "");
  const [first, final] = [runs.at(0), runs.at(-1)];
  if (first !== undefined) first.text = first.text.trimStart();
  if (final !== undefined) final.text = final.text.trimEnd();
  const shown = runs.filter(({ text }) => text !== "");
  return JSON.stringify(shown.map(({ text, style }) => [text.replace(/\s+/g, " "), style]));
}
