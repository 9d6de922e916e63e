import { randomUUID } from "node:crypto";
import * as Y from "yjs";

type Attributes = Readonly<Record<string, unknown>>;

/** A text with its styles. */
export interface StyledText {
  readonly type: "text";
  text: string;
  readonly styles: Record<string, unknown>;
}
export interface LinkContent {
  readonly type: "link";
  readonly href: string;
  readonly content: StyledText[];
}
/** A custom inline node, such as a mention. */
export interface CustomContent {
  readonly type: string;
  readonly props: Attributes;
  readonly content: Inline[] | undefined;
}
export type Inline = StyledText | LinkContent | CustomContent;

interface TableCell {
  readonly type: "tableCell";
  readonly content: Inline[];
  readonly props: Attributes;
}
export interface TableContent {
  readonly type: "tableContent";
  readonly columnWidths: unknown[];
  readonly headerRows: number | undefined;
  readonly headerCols: number | undefined;
  readonly rows: { readonly cells: TableCell[] }[];
}

/** A BlockNote block of any type. */
export interface Block {
  readonly id: string;
  readonly type: string;
  readonly props: Record<string, unknown>;
  readonly content: Inline[] | TableContent | undefined;
  readonly children: Block[];
}

interface Prop {
  readonly default?: unknown;
}
/** The part of an editor's schema that reading needs. */
export interface BlockSchema {
  readonly blockSchema: Readonly<
    Record<string, { readonly content: string; readonly propSchema: Readonly<Record<string, Prop>> }>
  >;
  readonly styleSchema: Readonly<Record<string, { readonly propSchema: string }>>;
}

/** Maximum columns of one table cell. */
const COLSPAN_MAX = 1000;
/** Yjs stores overlapping marks of one kind, such as comments, under their name and a hash. */
const OVERLAPPING = /^(.+)--[a-zA-Z0-9+/=]{8}$/;

/**
 * Reads the blocks of a document. Content that the schema defines is returned as by the editor's own reader. Everything
 * else is kept: an unknown block, inline node or attribute under its name, and the text under an unknown mark, such as
 * a comment or a suggestion.
 */
export function readBlocks(fragment: Y.XmlFragment, schema: BlockSchema): Block[] {
  return new BlockReader(schema).group(fragment);
}

/** Reads the blocks of one node. */
export const readNode = (node: Y.XmlElement, schema: BlockSchema): Block[] =>
  new BlockReader(schema).nodes([node]);

class BlockReader {
  readonly #schema: BlockSchema;

  constructor(schema: BlockSchema) {
    this.#schema = schema;
  }

  group(parent: Y.XmlFragment): Block[] {
    return this.nodes(parent.toArray());
  }

  nodes(nodes: readonly unknown[]): Block[] {
    return nodes.flatMap((node): Block[] => {
      if (node instanceof Y.XmlText) return this.#stray([node]);
      if (!(node instanceof Y.XmlElement)) return [];
      if (node.nodeName === "blockGroup") return this.group(node);
      if (node.nodeName === "blockContainer") return this.#container(node);
      return [holdsBlocks(node) ? this.#parent(node) : this.#block(node, {}, [])];
    });
  }

  /** One block with its children; content that an editor would not expect there becomes further blocks. */
  #container(node: Y.XmlElement): Block[] {
    const attributes = node.getAttributes() as Attributes;
    const elements = node.toArray().filter((inner) => inner instanceof Y.XmlElement);
    const isGroup = (inner: Y.XmlElement): boolean =>
      inner.nodeName === "blockGroup" || inner.nodeName === "blockContainer" || holdsBlocks(inner);
    const groups = elements.filter(isGroup);
    const [content, ...more] = elements.filter((inner) => !isGroup(inner));
    const children = groups.flatMap((inner) => {
      if (inner.nodeName === "blockContainer") return this.#container(inner);
      return inner.nodeName === "blockGroup" ? this.group(inner) : [this.#parent(inner)];
    });
    const texts = node.toArray().filter((inner) => inner instanceof Y.XmlText);
    const stray = [...this.#stray(texts), ...more.map((inner) => this.#block(inner, {}, []))];
    if (content !== undefined) return [this.#block(content, attributes, children), ...stray];
    return [...stray, ...children];
  }

  /** A block that contains only other blocks, such as a column. */
  #parent(node: Y.XmlElement): Block {
    const { id, ...props } = node.getAttributes() as Attributes;
    return { id: idOf(id), type: node.nodeName, props, content: undefined, children: this.group(node) };
  }

  #block(node: Y.XmlElement, container: Attributes, children: Block[]): Block {
    const type = node.nodeName;
    const known = Object.hasOwn(this.#schema.blockSchema, type) ? this.#schema.blockSchema[type] : undefined;
    const { id, ...attributes } = {
      ...container,
      ...(node.getAttributes() as Attributes),
      id: container["id"],
    };
    const props: Record<string, unknown> = {};
    for (const [name, { default: value }] of Object.entries(known?.propSchema ?? {}))
      if (value !== undefined) props[name] = value;
    Object.assign(props, attributes);
    return { id: idOf(id), type, props, content: this.#content(node, known?.content), children };
  }

  #content(node: Y.XmlElement, kind: string | undefined): Block["content"] {
    if (kind === "table") return this.#table(node);
    const content = this.#inline(node.toArray());
    return kind === "inline" || content.length > 0 ? content : undefined;
  }

  #table(table: Y.XmlElement): TableContent {
    const headers: boolean[][] = [];
    const columnWidths: unknown[] = [];
    const rows = elementsOf(table).map((row, at) => {
      const cells = elementsOf(row);
      headers.push(cells.map(({ nodeName }) => nodeName === "tableHeader"));
      return { cells: cells.map((cell) => this.#cell(cell, at === 0 ? columnWidths : [])) };
    });
    const headerRows = headers.filter((row) => row.every(Boolean)).length;
    const headerCols = (headers[0] ?? []).filter((_, at) => headers.every((row) => row[at] === true)).length;
    return {
      type: "tableContent",
      columnWidths,
      headerRows: headerRows || undefined,
      headerCols: headerCols || undefined,
      rows,
    };
  }

  #cell(cell: Y.XmlElement, widths: unknown[]): TableCell {
    const attributes = cell.getAttributes() as Attributes;
    const { colwidth, colspan = 1, rowspan = 1 } = attributes;
    const { backgroundColor = "default", textColor = "default", textAlignment = "left" } = attributes;
    const columns = Number.isInteger(colspan) && Number(colspan) > 0 ? Number(colspan) : 1;
    if (Array.isArray(colwidth)) widths.push(...colwidth.slice(0, COLSPAN_MAX));
    else for (let at = 0; at < Math.min(columns, COLSPAN_MAX); at += 1) widths.push(undefined);
    const content: Inline[] = [];
    for (const part of cell.toArray()) {
      const [first, ...more] = this.#inline(part instanceof Y.XmlElement ? part.toArray() : [part]);
      const last = content.at(-1);
      if (first === undefined) continue;
      if (isText(last) && isText(first) && isSame(last.styles, first.styles)) last.text += `\n${first.text}`;
      else content.push(first);
      for (const one of more) content.push(one);
    }
    return {
      type: "tableCell",
      content,
      props: { colspan, rowspan, backgroundColor, textColor, textAlignment },
    };
  }

  #inline(nodes: readonly unknown[]): Inline[] {
    const content: Inline[] = [];
    // The last text or link, which the next text may continue.
    let open: StyledText | LinkContent | undefined;
    const add = (text: string, styles: Record<string, unknown>, href: string | undefined): void => {
      const last = isLink(open) ? open.content.at(-1) : open;
      const isSameLink = isLink(open) ? open.href === href : href === undefined;
      if (open !== undefined && isSameLink && last !== undefined && isSame(last.styles, styles))
        last.text += text;
      else if (isLink(open) && isSameLink) open.content.push({ type: "text", text, styles });
      else {
        const added: StyledText = { type: "text", text, styles };
        open = href === undefined ? added : { type: "link", href, content: [added] };
        content.push(open);
      }
    };
    for (const node of nodes) {
      if (node instanceof Y.XmlText) {
        for (const { insert, attributes } of node.toDelta() as { insert: unknown; attributes?: Attributes }[])
          if (typeof insert === "string") add(insert, ...this.#marks(attributes ?? {}));
      } else if (node instanceof Y.XmlElement && node.nodeName === "hardBreak") {
        const last = isLink(open) ? open.content.at(-1) : open;
        if (last === undefined) add("\n", {}, undefined);
        else last.text += "\n";
      } else if (node instanceof Y.XmlElement) {
        const inner = this.#inline(node.toArray());
        const props = node.getAttributes() as Attributes;
        content.push({ type: node.nodeName, props, content: inner.length > 0 ? inner : undefined });
        open = undefined;
      }
    }
    return content;
  }

  /** Styles that the schema defines, and the target of a link. */
  #marks(attributes: Attributes): [styles: Record<string, unknown>, href: string | undefined] {
    const styles: Record<string, unknown> = {};
    let href: string | undefined;
    for (const [key, value] of Object.entries(attributes)) {
      const name = OVERLAPPING.exec(key)?.[1] ?? key;
      const given = (value ?? {}) as { readonly href?: unknown; readonly stringValue?: unknown };
      if (name === "link" && typeof given.href === "string") href = given.href;
      const style = Object.hasOwn(this.#schema.styleSchema, name)
        ? this.#schema.styleSchema[name]
        : undefined;
      if (style !== undefined) styles[name] = style.propSchema === "boolean" ? true : given.stringValue;
    }
    return [styles, href];
  }

  /** Text outside blocks. */
  #stray(texts: readonly Y.XmlText[]): Block[] {
    const content = this.#inline(texts);
    return content.length === 0 ? [] : [paragraph(this.#schema, content)];
  }
}

/** A paragraph as the editor creates it. */
export function paragraph({ blockSchema }: BlockSchema, content: Inline[]): Block {
  const props = Object.entries(blockSchema["paragraph"]?.propSchema ?? {}).map(
    ([name, { default: value }]) => [name, value] as const,
  );
  return { id: randomUUID(), type: "paragraph", props: Object.fromEntries(props), content, children: [] };
}

export const isText = (content: Inline | undefined): content is StyledText => content?.type === "text";
export const isLink = (content: Inline | undefined): content is LinkContent => content?.type === "link";

/** Compares the styles of two texts, sorted by the schema's marks. */
const isSame = (one: Attributes, other: Attributes): boolean => {
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length && names.every((name) => Object.is(one[name], other[name]))
  );
};

const idOf = (id: unknown): string => (typeof id === "string" ? id : randomUUID());

const elementsOf = (node: Y.XmlElement): Y.XmlElement[] =>
  node.toArray().filter((inner) => inner instanceof Y.XmlElement);

/** Whether a node contains blocks, directly or in nested nodes. */
const holdsBlocks = (node: Y.XmlElement): boolean =>
  elementsOf(node).some(
    (inner) => inner.nodeName === "blockContainer" || inner.nodeName === "blockGroup" || holdsBlocks(inner),
  );
