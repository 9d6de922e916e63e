/** The part of a block that says where a slide begins, and what it says. */
interface SlideBlock {
  readonly type: string;
  readonly props: object;
  readonly content?: unknown;
  readonly children?: readonly SlideBlock[];
}

interface IdentifiedBlock extends SlideBlock {
  readonly id: string;
  readonly children?: readonly IdentifiedBlock[];
}

/** Characters of a slide that the overview shows. */
const TEXT_MAX_LENGTH = 240;

const levelOf = ({ type, props }: SlideBlock): number | undefined =>
  type === "heading" && "level" in props && typeof props.level === "number" ? props.level : undefined;

/**
 * The blocks of each slide. A slide begins with a heading of the highest level that the document has, and after a page
 * break or a divider. An empty document has one slide.
 */
export function slidesOf<Block extends SlideBlock>(blocks: readonly Block[]): readonly (readonly Block[])[] {
  const levels = blocks.flatMap((block) => levelOf(block) ?? []);
  const top = Math.min(...levels);
  const slides: Block[][] = [[]];
  for (const block of blocks) {
    if (block.type === "pageBreak" || block.type === "divider") slides.push([]);
    else {
      if (levelOf(block) === top) slides.push([]);
      slides.at(-1)?.push(block);
    }
  }
  const shown = slides.filter((slide) => slide.some((block) => !isBlank(block)));
  return shown.length === 0 ? [[]] : shown;
}

/** The number of the slide, from 1, that has a block, or that begins after it if it is a page break or a divider. */
export function slideAt<Block extends IdentifiedBlock>(blocks: readonly Block[], id: string): number {
  const at = blocks.findIndex((block) => contains(block, id));
  const starts = slidesOf(blocks).map(([first]) => (first === undefined ? 0 : blocks.indexOf(first)));
  const begun = starts.filter((start) => start <= at).length;
  const type = blocks[at]?.type;
  const number = type === "pageBreak" || type === "divider" ? begun + 1 : begun;
  return Math.max(1, Math.min(number, starts.length));
}

const contains = ({ id, children = [] }: IdentifiedBlock, wanted: string): boolean =>
  id === wanted || children.some((child) => contains(child, wanted));

const isBlank = (block: SlideBlock): boolean =>
  block.type === "paragraph" && Array.isArray(block.content) && block.content.length === 0;

/** What the overview shows of a slide. */
export interface SlideSummary {
  /** The first text of the slide, or an empty string. */
  readonly title: string;
  /** The beginning of what follows. */
  readonly text: string;
}

export function summarize(slide: readonly SlideBlock[]): SlideSummary {
  const [title = "", ...others] = textsOf(slide);
  return { title: title.slice(0, TEXT_MAX_LENGTH), text: others.join(" ").slice(0, TEXT_MAX_LENGTH) };
}

/** The texts of blocks and of those below them, without blank ones. */
const textsOf = (blocks: readonly SlideBlock[]): readonly string[] =>
  blocks.flatMap(({ content, children = [] }) => {
    const text = inlineText(content).trim();
    return [...(text === "" ? [] : [text]), ...textsOf(children)];
  });

/** The text of the content of a block: texts, links, mentions, links to documents and cells. */
function inlineText(content: unknown): string {
  if (typeof content === "string") return content;
  if (Array.isArray(content)) return content.map(inlineText).join("");
  if (typeof content !== "object" || content === null) return "";
  const { text, content: inner, rows, cells, props } = content as Readonly<Record<string, unknown>>;
  if (typeof text === "string") return text;
  if (Array.isArray(rows)) return rows.map(inlineText).join(" ");
  if (Array.isArray(cells)) return cells.map(inlineText).join(" ");
  if (inner !== undefined) return inlineText(inner);
  const { name, title } = (props ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof name === "string") return `@${name}`;
  return typeof title === "string" ? title : "";
}
