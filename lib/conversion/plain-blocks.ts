import {
  type Block,
  type BlockSchema,
  type CustomContent,
  type Inline,
  isLink,
  isText,
  paragraph,
  type StyledText,
} from "./read-blocks.ts";

/** Props that an editor shows as text, in order of preference. */
const TEXTS = [
  "title",
  "name",
  "text",
  "label",
  "information",
  "blockUploadName",
  "caption",
  "user",
] as const;
/** Props that contain a URL. */
const ADDRESSES = ["url", "href", "blockUploadUrl"] as const;
const PIECE_LINES = 1000;

/**
 * Blocks with nothing but what the schema can write as HTML or markdown: others are replaced by those that come closest,
 * and no text is lost.
 */
export function plainBlocks(blocks: readonly Block[], schema: BlockSchema): Block[] {
  const shown = (block: Block): Block[] => {
    const { type, content } = block;
    const children = block.children.flatMap(shown);
    const inline = Array.isArray(content) ? content.flatMap(plainInline) : [];
    const after = inline.length > 0 ? [{ ...paragraph(schema, inline), children }] : children;
    const known = Object.hasOwn(schema.blockSchema, type) ? schema.blockSchema[type] : undefined;
    const isKnown = ([name]: readonly [string, unknown]): boolean =>
      known === undefined || Object.hasOwn(known.propSchema, name);
    const props = Object.fromEntries(Object.entries(block.props).filter(isKnown));
    const kind = known?.content;
    const standard = (as: string, given: Record<string, unknown> = {}): Block => ({
      id: block.id,
      type: as,
      props: given,
      content: undefined,
      children: [],
    });
    if (kind === "inline") return [{ ...block, props, content: inline, children }];
    if (kind === "table" && content !== undefined && !Array.isArray(content)) {
      const rows = content.rows.map(({ cells }) => ({
        cells: cells.map((cell) => ({ ...cell, content: cell.content.flatMap(plainInline) })),
      }));
      return rows.length === 0 ? children : [{ ...block, props, content: { ...content, rows }, children }];
    }
    if (known !== undefined && (type === "columnList" || type === "column"))
      return [{ ...block, props, content: undefined, children }];
    if (kind === "none") return [{ ...block, props, content: undefined, children: [] }, ...after];
    if (type === "pageBreak") return [standard("divider"), ...after];
    if (type === "callout") {
      const emoji = textOf(props["emoji"] ?? "");
      const marked = emoji === "" ? inline : [styled(`${emoji} `), ...inline];
      return [{ ...standard("quote"), content: marked, children }];
    }
    const url = addressOf(props);
    const name = nameOf(props);
    const caption = textOf(props["caption"] ?? "");
    if (url !== "") return [standard("file", { url, name: name || url, caption }), ...after];
    if (inline.length > 0 || name === "") return after;
    return [{ ...paragraph(schema, [styled(name)]), children }];
  };
  return blocks.flatMap(shown);
}

function plainInline(inline: Inline): Inline[] {
  if (isLink(inline)) return [{ ...inline, content: inline.content.flatMap(inPieces) }];
  if (isText(inline)) return inPieces(inline);
  if (inline.content !== undefined) return inline.content.flatMap(plainInline);
  const { docId } = inline.props;
  const href =
    addressOf(inline.props) || (typeof docId === "string" && docId !== "" ? `/docs/${docId}/` : "");
  const text = mentionText(inline) || nameOf(inline.props) || href;
  if (text === "") return [];
  return href === "" ? [styled(text)] : [{ type: "link", href, content: [styled(text)] }];
}

/** Puts texts of blocks in pieces. */
export function splitTexts(blocks: readonly { content?: unknown; readonly children?: unknown }[]): void {
  for (const block of blocks) {
    if (Array.isArray(block.content)) block.content = (block.content as Inline[]).flatMap(plainInline);
    splitTexts((block.children ?? []) as typeof blocks);
  }
}

/** Splits a text, because the editor passes the lines of each text as arguments of one call. */
function inPieces(text: StyledText): StyledText[] {
  const pieces: StyledText[] = [];
  let [start, lines] = [0, 0];
  for (let at = text.text.indexOf("\n"); at >= 0; at = text.text.indexOf("\n", at + 1)) {
    lines += 1;
    if (lines % PIECE_LINES !== 0) continue;
    pieces.push({ ...text, text: text.text.slice(start, at + 1) });
    start = at + 1;
  }
  return start === 0 ? [text] : [...pieces, { ...text, text: text.text.slice(start) }];
}

/** What a mention of a user shows; empty of other inline content. */
export const mentionText = ({ type, props }: CustomContent): string => {
  const name = type === "mention" ? textOf(props["name"]) : "";
  return name === "" ? "" : `@${name}`;
};

const styled = (text: string) => ({ type: "text" as const, text, styles: {} });
const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
const firstOf = (props: Readonly<Record<string, unknown>>, names: readonly string[]): string =>
  names.map((name) => textOf(props[name])).find((text) => text !== "") ?? "";
const nameOf = (props: Readonly<Record<string, unknown>>): string => firstOf(props, TEXTS);
const addressOf = (props: Readonly<Record<string, unknown>>): string => firstOf(props, ADDRESSES);
