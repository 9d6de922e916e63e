import { hash } from "node:crypto";
import * as Y from "yjs";

export type Attributes = Readonly<Record<string, unknown>>;

/** Text with its marks, or an embedded value. */
export interface TextRun {
  readonly insert: string | object;
  readonly attributes: Attributes;
}
export interface TextNode {
  readonly runs: readonly TextRun[];
  /** Equal for texts with equal content, regardless of comments. */
  readonly key: string;
  readonly hasComments: boolean;
  /** The shared type that was read. */
  readonly type?: Y.XmlText;
}
export interface ElementNode {
  readonly name: string;
  readonly attributes: Attributes;
  readonly children: readonly TreeNode[];
  /** Equal for elements with equal content, regardless of comments and the ids of blocks. */
  readonly key: string;
  /** Whether it contains text with a comment. */
  readonly hasComments: boolean;
  readonly type?: Y.XmlElement;
}
/** A node of a document's tree. Nothing depends on an editor's schema, so all nodes and marks are kept. */
export type TreeNode = ElementNode | TextNode;

/** A node to write: what is needed of it. */
export type WritableNode =
  | Pick<TextNode, "runs">
  | { readonly name: string; readonly attributes: Attributes; readonly children: readonly WritableNode[] };

export const isText = (node: TreeNode): node is TextNode => "runs" in node;
export const isElement = (node: TreeNode): node is ElementNode => "name" in node;

/** Elements that are blocks, or contain blocks, and have an id. */
const BLOCKS: ReadonlySet<string> = new Set(["blockContainer", "columnList", "column"]);
/** Returns the id of a block. */
export function blockId({ name, attributes }: ElementNode): string | undefined {
  const { id } = attributes;
  return BLOCKS.has(name) && typeof id === "string" ? id : undefined;
}

/** Comments are marks, under their name and a hash if they overlap. They belong to threads, not to the content. */
export const isComment = (mark: string): boolean => /^comment(?:--|$)/.test(mark);

/** Reads the nodes of a fragment or element. Throws for shared types that no editor writes there. */
export function readTree(parent: Y.XmlFragment): TreeNode[] {
  return parent.toArray().map((type) => {
    if (type instanceof Y.XmlText) {
      const delta = type.toDelta() as { insert: string | object; attributes?: Attributes }[];
      const runs = delta.map(({ insert, attributes = {} }) => ({ insert, attributes }));
      return { ...textNode(runs), type };
    }
    if (!(type instanceof Y.XmlElement)) throw new TypeError("the document contains an unknown shared type");
    const attributes = type.getAttributes() as Attributes;
    return { ...elementNode(type.nodeName, attributes, readTree(type)), type };
  });
}

/** The used part of ProseMirror's nodes. */
export interface EditorNode {
  readonly type: { readonly name: string };
  readonly attrs: Attributes;
  readonly text?: string | undefined;
  readonly marks: readonly { readonly type: { readonly name: string }; readonly attrs: object }[];
  readonly content: { forEach(one: (node: EditorNode) => void): void };
}

/** The nodes that an editor's Yjs binding writes for the content of a ProseMirror node. */
export function treeOf({ content }: EditorNode): TreeNode[] {
  const nodes: (ElementNode | TextRun[])[] = [];
  content.forEach((node) => {
    if (node.text === undefined) {
      nodes.push(elementNode(node.type.name, node.attrs, treeOf(node)));
      return;
    }
    const attributes = Object.fromEntries(node.marks.map((mark) => [mark.type.name, mark.attrs]));
    const last = nodes.at(-1);
    if (Array.isArray(last)) last.push({ insert: node.text, attributes });
    else nodes.push([{ insert: node.text, attributes }]);
  });
  return nodes.map((node) => (Array.isArray(node) ? textNode(node) : node));
}

export function elementNode(name: string, given: Attributes, children: readonly TreeNode[]): ElementNode {
  const attributes = Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== null && value !== undefined),
  );
  const { id, ...others } = attributes;
  const content = children.filter((child) => isElement(child) || child.runs.length > 0);
  const keys = content.map(({ key }) => key);
  const key = keyOf(["element", name, BLOCKS.has(name) ? others : attributes, keys]);
  return { name, attributes, children, key, hasComments: children.some((child) => child.hasComments) };
}

export function textNode(runs: readonly TextRun[]): TextNode {
  const joined: { insert: string | object; marks: string }[] = [];
  for (const { insert, attributes } of runs) {
    const marks = canonical(
      Object.fromEntries(Object.entries(attributes).filter(([name]) => !isComment(name))),
    );
    const last = joined.at(-1);
    if (typeof last?.insert === "string" && typeof insert === "string" && last.marks === marks)
      last.insert += insert;
    else joined.push({ insert, marks });
  }
  const hasComments = runs.some(({ attributes }) => Object.keys(attributes).some(isComment));
  return { runs, hasComments, key: keyOf(["text", ...joined.map(({ insert, marks }) => [insert, marks])]) };
}

/** Keys of large documents take less memory as digests. */
const keyOf = (value: unknown): string => hash("sha1", canonical(value), "base64");

/** Text that is equal for equal values of Yjs attributes, which may be other than JSON. */
export function canonical(value: unknown): string {
  if (value instanceof Y.AbstractType || value instanceof Y.Doc)
    throw new TypeError("an attribute is a shared type");
  if (value instanceof Uint8Array) return `bytes:${Buffer.from(value).toString("base64")}`;
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value !== null && typeof value === "object")
    return `{${Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, inner]) => `${JSON.stringify(name)}:${canonical(inner)}`)
      .join(",")}}`;
  if (typeof value === "bigint") return `${value}n`;
  return typeof value === "number" && !Number.isFinite(value)
    ? String(value)
    : (JSON.stringify(value) ?? "undefined");
}

/**
 * Writes nodes into an element or fragment after one of its children, or first. Yjs takes the nodes as a list: passed
 * as arguments of one call, some 100,000 would fail.
 */
export function insertNodes(
  parent: Y.XmlFragment,
  after: Y.XmlElement | Y.XmlText | null,
  nodes: readonly WritableNode[],
): void {
  if (nodes.length === 0) return;
  const types = nodes.map((node) =>
    "runs" in node ? new Y.XmlText() : new Y.XmlElement<Record<string, never>>(node.name),
  );
  parent.insertAfter(after as Y.XmlElement | null, types as unknown as Y.XmlElement[]);
  for (const [at, node] of nodes.entries()) {
    const type = types[at];
    if ("runs" in node) (type as Y.XmlText).applyDelta([...node.runs]);
    else {
      const element = type as Y.XmlElement<Record<string, never>>;
      for (const [name, value] of Object.entries(node.attributes)) element.setAttribute(name, value as never);
      insertNodes(element as unknown as Y.XmlElement, null, node.children);
    }
  }
}
