import { randomUUID } from "node:crypto";
import type * as Y from "yjs";
import { alignSequences, type Pair, type Part, partsBetween } from "./align-sequences.ts";
import {
  blockId,
  canonical,
  type ElementNode,
  insertNodes,
  isElement,
  isText,
  readTree,
  type TreeNode,
  textNode,
} from "./document-tree.ts";
import { editText } from "./edit-text.ts";

/** What the format of the wanted content cannot express, and what is therefore kept. */
export interface Kept {
  mark(name: string): boolean;
  attribute(name: string): boolean;
}

/** Nodes that differ are paired in groups of this size, each with each. */
const GROUP = 48;
/** Characters that are compared of two texts that differ. */
const COMPARED = 256;
/** Blocks that have less text in common are not taken as one block that was changed. */
const SIMILAR = 0.3;
/** The similarity of a text with an empty one: an empty block becomes the block that takes its place. */
const EMPTY_SIMILARITY = 0.5;

/**
 * Changes the content of a fragment or element into the wanted nodes, with as few changes as an editor would make:
 * nodes that are equal stay untouched, and changed blocks keep their ids, so that concurrent edits of others merge.
 */
export function editTree(
  parent: Y.XmlFragment,
  current: readonly TreeNode[],
  wanted: readonly TreeNode[],
  kept: Kept,
): void {
  editChildren(parent, current, wanted, kept);
  makeIdsUnique(parent, current);
}

function editChildren(
  parent: Y.XmlFragment,
  current: readonly TreeNode[],
  given: readonly TreeNode[],
  kept: Kept,
): void {
  const content = given.filter((node) => isElement(node) || node.runs.length > 0);
  // A text that becomes empty stays, for those who are typing in it.
  const wanted = content.length === 0 && current.some(isText) ? [textNode([])] : content;
  const pairs = pairNodes(current, wanted);
  for (const [at, otherAt] of pairs) editNode(current[at] as TreeNode, wanted[otherAt] as TreeNode, kept);
  const parts = [...partsBetween(pairs, current.length, wanted.length)];
  // From the end, because deleting changes later positions.
  for (const { start, end, otherStart, otherEnd } of parts.reverse()) {
    const before = current[start - 1]?.type ?? null;
    if (end > start) parent.delete(start, end - start);
    insertNodes(parent, before, wanted.slice(otherStart, otherEnd));
  }
}

function editNode(current: TreeNode, wanted: TreeNode, kept: Kept): void {
  if (current.key === wanted.key && !wanted.hasComments) return;
  if (isText(current) && isText(wanted) && current.type !== undefined)
    editText(current.type, current.runs, wanted.runs, kept.mark);
  if (!isElement(current) || !isElement(wanted) || current.type === undefined) return;
  const type = current.type as Y.XmlElement<Record<string, never>>;
  const isId = (name: string): boolean => name === "id" && blockId(current) !== undefined;
  for (const [name, value] of Object.entries(wanted.attributes)) {
    const isSame =
      Object.hasOwn(current.attributes, name) && canonical(current.attributes[name]) === canonical(value);
    if (!isSame && !isId(name) && !kept.attribute(name)) type.setAttribute(name, value as never);
  }
  for (const name of Object.keys(current.attributes))
    if (!Object.hasOwn(wanted.attributes, name) && !isId(name) && !kept.attribute(name))
      type.removeAttribute(name);
  editChildren(current.type, current.children, wanted.children, kept);
}

/**
 * Pairs the nodes that stay, in order: first equal blocks with the same id, then equal nodes, then blocks with the same
 * id, then those of one kind that are similar.
 */
function pairNodes(current: readonly TreeNode[], wanted: readonly TreeNode[]): Pair[] {
  const id = (node: TreeNode): string => (isElement(node) ? (blockId(node) ?? "") : "");
  const key = (node: TreeNode): string => node.key;
  const both = (node: TreeNode): string => (id(node) === "" ? "" : `${node.key} ${id(node)}`);
  let pairs: Pair[] = [];
  for (const keyOf of [both, key, id]) {
    const [keys, otherKeys] = [current.map(keyOf), wanted.map(keyOf)];
    pairs = refine(pairs, current.length, wanted.length, (part) =>
      alignSequences(keys.slice(part.start, part.end), otherKeys.slice(part.otherStart, part.otherEnd)),
    );
  }
  return refine(pairs, current.length, wanted.length, (part) =>
    pairSimilar(current.slice(part.start, part.end), wanted.slice(part.otherStart, part.otherEnd)),
  );
}

/** Adds the pairs that are found in the parts between the pairs. */
function refine(
  pairs: readonly Pair[],
  length: number,
  otherLength: number,
  find: (part: Part) => readonly Pair[],
): Pair[] {
  const found = [...pairs];
  for (const part of partsBetween(pairs, length, otherLength)) {
    if (part.start === part.end || part.otherStart === part.otherEnd) continue;
    for (const [at, otherAt] of find(part)) found.push([part.start + at, part.otherStart + otherAt]);
  }
  return found.sort(([a], [b]) => a - b);
}

/** Pairs nodes of one kind so that their similarity is the greatest in total, in groups to limit the time. */
function pairSimilar(current: readonly TreeNode[], wanted: readonly TreeNode[]): Pair[] {
  const pairs: Pair[] = [];
  const [texts, otherTexts] = [current.map(textOf), wanted.map(textOf)];
  for (let from = 0; from < Math.min(current.length, wanted.length); from += GROUP) {
    const rows = Math.min(GROUP, current.length - from);
    const columns = Math.min(GROUP, wanted.length - from);
    const similarity = (row: number, column: number): number =>
      similarityOf(
        [current[from + row] as TreeNode, texts[from + row] as string],
        [wanted[from + column] as TreeNode, otherTexts[from + column] as string],
      );
    for (const [row, column] of bestPairs(rows, columns, similarity)) pairs.push([from + row, from + column]);
  }
  return pairs;
}

/** The pairs with the greatest sum of values that are above 0; both positions increase. */
function bestPairs(
  rows: number,
  columns: number,
  pairValue: (row: number, column: number) => number,
): Pair[] {
  const width = columns + 1;
  const values = new Float64Array(rows * columns);
  const sums = new Float64Array((rows + 1) * width);
  const sum = (row: number, column: number): number => sums[row * width + column] as number;
  const paired = (row: number, column: number): number => {
    const value = values[row * columns + column] as number;
    return value > 0 ? value + sum(row + 1, column + 1) : 0;
  };
  for (let row = rows - 1; row >= 0; row -= 1)
    for (let column = columns - 1; column >= 0; column -= 1) {
      values[row * columns + column] = pairValue(row, column);
      sums[row * width + column] = Math.max(paired(row, column), sum(row + 1, column), sum(row, column + 1));
    }
  const pairs: Pair[] = [];
  for (let [row, column] = [0, 0]; row < rows && column < columns && sum(row, column) > 0; ) {
    if (paired(row, column) === sum(row, column)) pairs.push([row++, column++]);
    else if (sum(row + 1, column) === sum(row, column)) row += 1;
    else column += 1;
  }
  return pairs;
}

/** From 0, of another kind, to 2. */
function similarityOf(
  [one, text]: readonly [TreeNode, string],
  [other, otherText]: readonly [TreeNode, string],
): number {
  if (isText(one) || isText(other)) return isText(one) && isText(other) ? 1 : 0;
  if (one.name !== other.name) return 0;
  // Elements without an id have a place of their own: the content of a block, its children, the rows of a table.
  if (blockId(one) === undefined) return 1;
  const alike = text === "" || otherText === "" ? EMPTY_SIMILARITY : likeness(text, otherText);
  if (alike < SIMILAR) return 0;
  return alike + (contentName(one) === contentName(other) ? 1 : 0);
}

const contentName = ({ children }: ElementNode): string | undefined => children.find(isElement)?.name;

/** The start of the text of a node. */
function textOf(node: TreeNode): string {
  if (isText(node))
    return node.runs
      .map(({ insert }) => (typeof insert === "string" ? insert : ""))
      .join("")
      .slice(0, COMPARED);
  let text = "";
  for (const child of node.children) {
    if (text.length >= COMPARED) break;
    text += textOf(child);
  }
  return text;
}

/** The share of the shorter text that begins or ends the other. */
function likeness(text: string, otherText: string): number {
  const shorter = Math.min(text.length, otherText.length);
  let [start, end] = [0, 0];
  while (start < shorter && text[start] === otherText[start]) start += 1;
  while (end < shorter - start && text.at(-1 - end) === otherText.at(-1 - end)) end += 1;
  return (start + end) / shorter;
}

/** Gives new ids to inserted blocks whose id is in use. Blocks that were there before keep theirs. */
function makeIdsUnique(parent: Y.XmlFragment, before: readonly TreeNode[]): void {
  const old = new Set<unknown>();
  const collect = (nodes: readonly TreeNode[]): void => {
    for (const node of nodes.filter(isElement)) {
      old.add(node.type);
      collect(node.children);
    }
  };
  collect(before);
  const used = new Set<string>();
  const inserted: Y.XmlElement[] = [];
  const find = (nodes: readonly TreeNode[]): void => {
    for (const node of nodes.filter(isElement)) {
      const id = blockId(node);
      if (id !== undefined && old.has(node.type)) used.add(id);
      else if (id !== undefined) inserted.push(node.type as Y.XmlElement);
      find(node.children);
    }
  };
  find(readTree(parent));
  for (const type of inserted) {
    if (used.has(type.getAttribute("id") ?? "")) type.setAttribute("id", randomUUID());
    used.add(type.getAttribute("id") ?? "");
  }
}
