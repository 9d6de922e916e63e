import * as Y from "yjs";

/** The used part of ProseMirror's nodes. */
interface Node {
  readonly type: { readonly name: string };
  readonly attrs: Readonly<Record<string, unknown>>;
  readonly text?: string | undefined;
  readonly marks: readonly { readonly type: { readonly name: string }; readonly attrs: object }[];
  readonly content: Nodes;
}
interface Nodes {
  forEach(one: (node: Node) => void): void;
}

/**
 * Appends nodes to an element of a document, as the editor's Yjs binding does. The binding passes all nodes of an
 * element as arguments of one call, which fails for some 100,000 of them.
 */
export function write(parent: Y.XmlElement, nodes: Nodes): void {
  const parts: (Node | { insert: string; attributes: object }[])[] = [];
  nodes.forEach((node) => {
    if (node.text === undefined) {
      parts.push(node);
      return;
    }
    const last = parts.at(-1);
    const attributes = Object.fromEntries(node.marks.map((mark) => [mark.type.name, mark.attrs]));
    if (Array.isArray(last)) last.push({ insert: node.text, attributes });
    else parts.push([{ insert: node.text, attributes }]);
  });
  const made = parts.map((part) =>
    Array.isArray(part) ? new Y.XmlText() : new Y.XmlElement<Record<string, never>>(part.type.name),
  );
  const last = parent.length > 0 ? (parent.get(parent.length - 1) as Y.XmlElement) : null;
  parent.insertAfter(last, made as unknown as Y.XmlElement[]);
  for (const [at, part] of parts.entries()) {
    const type = made[at];
    if (type instanceof Y.XmlText) type.applyDelta(part as object[]);
    else if (type !== undefined && !Array.isArray(part)) {
      for (const [name, value] of Object.entries(part.attrs))
        if (value !== null) type.setAttribute(name, value as never);
      write(type as unknown as Y.XmlElement, part.content);
    }
  }
}
