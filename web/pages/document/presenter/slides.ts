/** The part of a block that says where a slide begins. */
interface SlideBlock {
  readonly type: string;
  readonly props: object;
}

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

const isBlank = (block: SlideBlock): boolean =>
  block.type === "paragraph" &&
  "content" in block &&
  Array.isArray(block.content) &&
  block.content.length === 0;
