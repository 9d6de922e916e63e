import { elementNode, isElement, isText, type TextRun, type TreeNode, textNode } from "./document-tree.ts";
import { collectImages, EMBEDDED_PREFIX } from "./embedded-images.ts";
import type { ImportedPage } from "./imported-page.ts";
import { type Block, type Inline, isLink, isText as isStyledText, type TableContent } from "./read-blocks.ts";
import { isSafeUrl } from "./sanitize.ts";

const URLS_MAX = 10_000;
const URL_MAX_LENGTH = 4_096;
/** A scheme, a path of the server, or a place on the page. */
const ABSOLUTE = /^(?:[a-z][a-z0-9+.-]*:|\/|#|$)/i;
/** Boxes that office programs write before the items of a checklist, and whether they are checked. */
const BOX = /^\s*(?:([☑☒✓✔]|\[[xX]\])|[☐□]|\[ \])\s*/u;

export const isEmbedded = (url: string): boolean => url.startsWith(EMBEDDED_PREFIX);

/**
 * Prepares the blocks of an imported page: removes URLs that could run scripts, takes images out of `data:` URLs, and
 * returns those with the relative URLs.
 */
export function collectContent(blocks: readonly Block[]): Pick<ImportedPage, "files" | "urls" | "skipped"> {
  const images = collectImages();
  const urls = new Set<string>();
  const note = (url: string): void => {
    if (!ABSOLUTE.test(url) && url.length <= URL_MAX_LENGTH && urls.size < URLS_MAX) urls.add(url);
  };
  const cleanInline = (content: Inline[]): Inline[] =>
    content.flatMap((inline): Inline[] => {
      if (!isLink(inline)) return [inline];
      if (!isSafeUrl(inline.href)) return inline.content;
      note(inline.href);
      return [inline];
    });
  const clean = (block: Block): void => {
    const { props, content } = block;
    if (typeof props["url"] === "string") {
      const url = isSafeUrl(props["url"]) ? images.addUrl(props["url"]) : "";
      props["url"] = url;
      note(url);
    }
    if (Array.isArray(content)) (block as { content: Inline[] }).content = cleanInline(content);
    else if (isTable(content))
      for (const { cells } of content.rows)
        for (const cell of cells)
          if (Array.isArray(cell.content))
            (cell as { content: Inline[] }).content = cleanInline(cell.content);
    block.children.forEach(clean);
  };
  blocks.forEach(clean);
  return { files: images.files, urls: [...urls], skipped: images.skipped };
}

const isTable = (content: Block["content"]): content is TableContent =>
  typeof content === "object" && !Array.isArray(content) && Array.isArray(content.rows);

/** The blocks without a first heading that repeats the title. */
export function withoutTitle(blocks: Block[], title: string | undefined): Block[] {
  const [first] = blocks;
  const isRepeated =
    title !== undefined &&
    first?.type === "heading" &&
    first.props["level"] === 1 &&
    textOf(first) === title.trim();
  return isRepeated ? [...first.children, ...blocks.slice(1)] : blocks;
}

const textOf = ({ content }: Block): string =>
  (Array.isArray(content) ? content : [])
    .map((inline) =>
      isLink(inline)
        ? inline.content.map(({ text }) => text).join("")
        : isStyledText(inline)
          ? inline.text
          : "",
    )
    .join("")
    .trim();

/** The blocks with paragraphs and list items that begin with a box as items of checklists. */
export function findChecklists(blocks: readonly Block[]): Block[] {
  return blocks.map((block): Block => {
    const children = findChecklists(block.children);
    const { type, content } = block;
    const first = Array.isArray(content) ? content[0] : undefined;
    const box = isStyledText(first) ? BOX.exec(first.text) : null;
    const isItem = type === "paragraph" || type === "bulletListItem";
    if (!isItem || box === null || !isStyledText(first) || !Array.isArray(content))
      return { ...block, children };
    const rest = { ...first, text: first.text.slice(box[0].length) };
    const { start: _, ...props } = block.props;
    return {
      ...block,
      type: "checkListItem",
      props: { ...props, checked: box[1] !== undefined },
      content: [...(rest.text === "" ? [] : [rest]), ...content.slice(1)],
      children,
    };
  });
}

/** The nodes with replaced URLs of links and media. */
export function withUrls(nodes: readonly TreeNode[], urls: ReadonlyMap<string, string>): TreeNode[] {
  const replaced = (url: unknown): unknown => (typeof url === "string" ? (urls.get(url) ?? url) : url);
  const withLink = ({ insert, attributes }: TextRun): TextRun => {
    const { link } = attributes as { readonly link?: { readonly href?: unknown } };
    if (link === undefined || link === null) return { insert, attributes };
    return { insert, attributes: { ...attributes, link: { ...link, href: replaced(link.href) } } };
  };
  return nodes.map((node) => {
    if (isText(node)) return textNode(node.runs.map(withLink));
    if (!isElement(node)) return node;
    const { name, attributes } = node;
    const own = "url" in attributes ? { ...attributes, url: replaced(attributes["url"]) } : attributes;
    return elementNode(name, own, withUrls(node.children, urls));
  });
}
