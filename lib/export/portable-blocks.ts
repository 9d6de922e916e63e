import type { Block, Inline } from "../conversion/read-blocks.ts";
import { isLink, isText } from "../conversion/read-blocks.ts";
import { documentIdOf, mediaKeyOf } from "./nodes.ts";
import type { Rendering } from "./rendering.ts";

type Given = Pick<Rendering, "blocks" | "documents" | "files" | "baseUrl">;

/**
 * The blocks of a document whose links lead to the other files of an archive: to attachments, and to other documents.
 * What the archive does not contain keeps its URL.
 */
export function portableBlocks(given: Given): Block[] {
  return (JSON.parse(given.blocks) as Block[]).map((block) => portable(block, given));
}

function portable(block: Block, given: Given): Block {
  const props = Object.fromEntries(
    Object.entries(block.props).map(([name, value]) => [
      name,
      typeof value === "string" ? fileOf(value, given) : value,
    ]),
  );
  const { content } = block;
  const moved =
    content === undefined || Array.isArray(content)
      ? content?.map((one) => portableInline(one, given))
      : {
          ...content,
          rows: content.rows.map(({ cells }) => ({
            cells: cells.map((cell) => ({
              ...cell,
              content: cell.content.map((one) => portableInline(one, given)),
            })),
          })),
        };
  return { ...block, props, content: moved, children: block.children.map((child) => portable(child, given)) };
}

function portableInline(inline: Inline, given: Given): Inline {
  if (isText(inline)) return inline;
  if (isLink(inline)) {
    const linked = given.documents.get(documentIdOf(inline.href, given.baseUrl) ?? "");
    return { ...inline, href: linked?.url ?? fileOf(inline.href, given) };
  }
  const { docId } = inline.props;
  const linked = typeof docId === "string" ? given.documents.get(docId.toLowerCase()) : undefined;
  if (linked === undefined) return inline;
  return { type: "link", href: linked.url, content: [{ type: "text", text: linked.title, styles: {} }] };
}

const fileOf = (url: string, { files }: Given): string => files?.get(mediaKeyOf(url) ?? "") ?? url;
