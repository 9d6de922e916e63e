import type { Block } from "./read-blocks.ts";

/**
 * Language of a fenced code block that contains a block of another type, which Markdown cannot express, as JSON:
 * `weft:callout`. Reading such a block restores it with its children. Decision: infra/decisions/0122.
 */
const PREFIX = "weft:";
const TYPE_MAX_LENGTH = 100;

/** The fence of a block. */
export function fencedBlock(block: Block): string {
  const { id: _id, ...shown } = block;
  const json = JSON.stringify(withoutIds(shown));
  const longest = Math.max(2, ...[...json.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${PREFIX}${block.type.replace(/[^\w-]/g, "").slice(0, TYPE_MAX_LENGTH)}\n${json}\n${fence}`;
}

/** Whether a language of code would be read as a block. */
export const isFenceLanguage = (language: unknown): boolean =>
  typeof language === "string" && language.trimStart().startsWith(PREFIX);

/** A part of a block as parsed from Markdown. */
interface ParsedBlock {
  readonly type?: unknown;
  readonly props?: unknown;
  readonly content?: unknown;
  readonly children?: unknown;
}

/**
 * Replaces fenced blocks in blocks that were read from Markdown by what they contain. A fence whose JSON is not a block
 * stays code. The blocks have no ids, and may be of any type.
 */
export function restoreFencedBlocks<B extends ParsedBlock>(blocks: readonly B[]): B[] {
  return blocks.map((block) => {
    const restored = block.type === "codeBlock" ? readFence(block) : undefined;
    if (restored !== undefined) return restored as B;
    const children = Array.isArray(block.children)
      ? restoreFencedBlocks(block.children as B[])
      : block.children;
    return { ...block, children };
  });
}

function readFence({ props, content }: ParsedBlock): Omit<Block, "id"> | undefined {
  const { language } = (props ?? {}) as { readonly language?: unknown };
  if (!isFenceLanguage(language) || !Array.isArray(content)) return undefined;
  const json = content.map((one: { readonly text?: unknown }) => String(one.text ?? "")).join("");
  try {
    const block = JSON.parse(json) as unknown;
    return isBlock(block) ? block : undefined;
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === "object" && !Array.isArray(value);

function isBlock(value: unknown): value is Omit<Block, "id"> {
  if (!isObject(value)) return false;
  const { type, props, content, children } = value;
  const isContent =
    content === undefined ||
    Array.isArray(content) ||
    (isObject(content) && content["type"] === "tableContent");
  return (
    typeof type === "string" &&
    /^\w[\w-]*$/.test(type) &&
    isObject(props) &&
    isContent &&
    Array.isArray(children) &&
    children.every(isBlock)
  );
}

function withoutIds(block: Omit<Block, "id">): Omit<Block, "id"> {
  const children = block.children.map(({ id: _id, ...child }) => withoutIds(child)) as unknown as Block[];
  return { ...block, children };
}
