import type { Block } from "./read-blocks.ts";

/**
 * Arranges columns as the editor's schema requires: a list of at least two columns, which is not itself in a column, and
 * blocks in each. Other columns, which only hostile content has, are replaced by what they contain.
 */
export function arrangeColumns(blocks: readonly Block[], isInColumn = false): Block[] {
  return blocks.flatMap((block): Block[] => {
    if (block.type === "column") return contentOf(block, isInColumn);
    if (block.type !== "columnList")
      return [{ ...block, children: arrangeColumns(block.children, isInColumn) }];
    const columns = block.children
      .map((child) => (child.type === "column" ? { ...child, children: contentOf(child, true) } : child))
      .filter(({ type, children }) => type !== "column" || children.length > 0);
    const isList = columns.length >= 2 && columns.every(({ type }) => type === "column");
    if (isList && !isInColumn && !Array.isArray(block.content))
      return [{ ...block, children: columns.map((column) => ({ ...column, content: undefined })) }];
    return contentOf(block, isInColumn);
  });
}

/** The blocks in a column or list of columns; text directly in it becomes a paragraph. */
function contentOf(block: Block, isInColumn: boolean): Block[] {
  const inner = arrangeColumns(block.children, isInColumn);
  return Array.isArray(block.content) ? [{ ...block, type: "paragraph", children: inner }] : inner;
}
