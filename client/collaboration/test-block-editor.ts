import * as Y from "yjs";

const FRAGMENT = "document-store";

/** Names an element or a text, in all copies of a document. */
export type TypeId = `${number}:${number}`;

type Node = Y.XmlElement | Y.XmlText | Y.XmlFragment;

/** Where a character is: its text and the elements around it, innermost first. */
export interface Place {
  readonly char: string;
  readonly around: readonly TypeId[];
}

export const typeId = (type: Pick<Node, "_item">): TypeId => {
  const item = type._item;
  return item === null ? "0:0" : `${item.id.client}:${item.id.clock}`;
};

/** The group that editors show. Undefined while the document is empty. */
const rootOf = (doc: Y.Doc): Y.XmlElement | undefined =>
  doc
    .getXmlFragment(FRAGMENT)
    .toArray()
    .find((node): node is Y.XmlElement => node instanceof Y.XmlElement);

/** The number of groups at the top; editors hide all but one. */
export const countRoots = (doc: Y.Doc): number => doc.getXmlFragment(FRAGMENT).length;

export const xmlOf = (doc: Y.Doc): string => doc.getXmlFragment(FRAGMENT).toString();

/** A document with these updates. */
export function docOf(...updates: readonly Uint8Array[]): Y.Doc {
  const doc = new Y.Doc();
  for (const update of updates) Y.applyUpdate(doc, update);
  return doc;
}

/** All characters of a document or an element, and where they are. */
export function placesOf(parent: Node | Y.Doc, around: readonly TypeId[] = ancestorsOf(parent)): Place[] {
  if (parent instanceof Y.Doc) return placesOf(parent.getXmlFragment(FRAGMENT), []);
  if (parent instanceof Y.XmlText)
    return [...textOf(parent)].map((char) => ({ char, around: [typeId(parent), ...around] }));
  const inner = parent instanceof Y.XmlElement ? [typeId(parent), ...around] : around;
  return parent.toArray().flatMap((child) => placesOf(child as Y.XmlElement | Y.XmlText, inner));
}

function ancestorsOf(type: Node | Y.Doc): TypeId[] {
  const ids: TypeId[] = [];
  if (type instanceof Y.Doc) return ids;
  for (let parent = type.parent; parent instanceof Y.XmlElement; parent = parent.parent)
    ids.push(typeId(parent));
  return ids;
}

const textOf = (text: Y.XmlText): string =>
  (text.toDelta() as { insert: unknown }[])
    .map(({ insert }) => (typeof insert === "string" ? insert : ""))
    .join("");

/** What an operation removed, and the characters that it put somewhere. */
export interface Edited {
  readonly deleted: readonly Place[];
  /** Elements that were deleted, with everything that others are writing into them. */
  readonly elements: readonly TypeId[];
  readonly added: readonly Place[];
}

const nothing = { deleted: [], elements: [], added: [] };

/**
 * Edits a document as BlockNote does: the tree `blockGroup > blockContainer > paragraph > text`, in which containers may
 * have a group of their own. `pick` selects blocks and positions.
 */
export class BlockEditor {
  readonly doc: Y.Doc;

  constructor(doc: Y.Doc) {
    this.doc = doc;
  }

  get isReady(): boolean {
    return rootOf(this.doc) !== undefined;
  }

  #containers(group = rootOf(this.doc)): Y.XmlElement[] {
    const found: Y.XmlElement[] = [];
    for (const node of group?.toArray() ?? []) {
      if (!(node instanceof Y.XmlElement) || node.nodeName !== "blockContainer") continue;
      found.push(node);
      const inner = node.toArray().find((child) => child instanceof Y.XmlElement && isGroup(child));
      if (inner !== undefined) found.push(...this.#containers(inner as Y.XmlElement));
    }
    return found;
  }

  #container(pick: number): Y.XmlElement | undefined {
    const all = this.#containers();
    return all[pick % all.length];
  }

  /** The text of a block; created if the block is empty. */
  #text(container: Y.XmlElement | undefined): Y.XmlText | undefined {
    const content = container?.toArray().find((node) => node instanceof Y.XmlElement && !isGroup(node));
    if (!(content instanceof Y.XmlElement)) return undefined;
    const texts = content.toArray().filter((node): node is Y.XmlText => node instanceof Y.XmlText);
    if (texts[0] === undefined) content.insert(0, [new Y.XmlText()]);
    return (texts[0] ?? content.get(0)) as Y.XmlText;
  }

  /** Types a character into a block. */
  type(pick: number, char: string, isWord = false): Edited {
    return this.#edit(() => {
      const text = this.#text(this.#container(pick));
      if (text === undefined) return nothing;
      text.insert(text.length === 0 ? 0 : pick % (text.length + 1), isWord ? `${char} ` : char, {});
      return { ...nothing, added: [{ char, around: [typeId(text), ...ancestorsOf(text)] }] };
    });
  }

  /** Deletes some characters of a block. */
  erase(pick: number): Edited {
    return this.#edit(() => {
      const text = this.#text(this.#container(pick));
      if (text === undefined || text.length === 0) return nothing;
      const start = pick % text.length;
      const length = Math.min(1 + (pick % 3), text.length - start);
      const before = placesOf(text);
      text.delete(start, length);
      const left = new Set(textOf(text));
      return { ...nothing, deleted: before.filter(({ char }) => !left.has(char)) };
    });
  }

  /** Makes some characters of a block bold, or not. */
  format(pick: number): Edited {
    return this.#edit(() => {
      const text = this.#text(this.#container(pick));
      if (text === undefined || text.length === 0) return nothing;
      const start = pick % text.length;
      text.format(start, text.length - start, { bold: pick % 2 === 0 ? {} : null });
      return nothing;
    });
  }

  /** Inserts a block with a character: after another one, or as its child. */
  insertBlock(pick: number, char: string): Edited {
    return this.#edit(() => {
      const after = this.#container(pick);
      const root = rootOf(this.doc);
      if (root === undefined) return nothing;
      const block = blockWith(char, `${this.doc.clientID}-${char}`);
      if (after === undefined) root.insert(0, [block]);
      else if (pick % 4 === 0) groupIn(after).push([block]);
      else (after.parent as Y.XmlElement).insertAfter(after, [block]);
      return { ...nothing, added: placesOf(block) };
    });
  }

  deleteBlock(pick: number): Edited {
    return this.#edit(() => {
      const block = this.#container(pick);
      if (block === undefined || this.#containers().length < 2) return nothing;
      const deleted = placesOf(block);
      return { ...nothing, deleted, elements: this.#remove(block) };
    });
  }

  /** Moves a block to the end or the beginning, as ProseMirror does: it deletes the block, and inserts a copy. */
  moveBlock(pick: number): Edited {
    return this.#edit(() => {
      const block = this.#container(pick);
      const root = rootOf(this.doc);
      if (block === undefined || root === undefined || this.#containers().length < 2) return nothing;
      const copy = block.clone() as Y.XmlElement;
      const elements = this.#remove(block);
      root.insert(pick % 2 === 0 ? root.length : 0, [copy]);
      return { ...nothing, elements, added: placesOf(copy) };
    });
  }

  /** Deletes a block; a group that would be empty is deleted with it. Returns what was deleted. */
  #remove(block: Y.XmlElement): TypeId[] {
    const parent = block.parent as Y.XmlElement;
    const isOnly = parent.length === 1 && parent !== rootOf(this.doc);
    const [from, removed] = isOnly ? [parent.parent as Y.XmlElement, parent] : [parent, block];
    const ids = idsIn(removed);
    const at = from.toArray().indexOf(removed);
    from.delete(at, 1);
    return ids;
  }

  #edit(change: () => Edited): Edited {
    return this.doc.transact(change);
  }
}

const isGroup = (node: Y.XmlElement): boolean => node.nodeName === "blockGroup";

/** The ids of an element and of everything in it. */
const idsIn = (element: Y.XmlElement): TypeId[] => [
  typeId(element),
  ...element
    .toArray()
    .flatMap((child) => (child instanceof Y.XmlElement ? idsIn(child) : [typeId(child as Y.XmlText)])),
];

function blockWith(char: string, id: string): Y.XmlElement {
  const [container, paragraph] = [new Y.XmlElement("blockContainer"), new Y.XmlElement("paragraph")];
  container.setAttribute("id", id);
  paragraph.insert(0, [new Y.XmlText(char)]);
  container.insert(0, [paragraph]);
  return container;
}

function groupIn(container: Y.XmlElement): Y.XmlElement {
  const inner = container.toArray().find((child) => child instanceof Y.XmlElement && isGroup(child));
  if (inner !== undefined) return inner as Y.XmlElement;
  const group = new Y.XmlElement("blockGroup");
  container.push([group]);
  return group;
}
