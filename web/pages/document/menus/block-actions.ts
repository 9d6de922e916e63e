import { SuggestionMenu } from "@blocknote/core/extensions";
import {
  addColumnAfter,
  addColumnBefore,
  addRowAfter,
  addRowBefore,
  deleteColumn,
  deleteRow,
  mergeCells,
  splitCell,
  toggleHeaderColumn,
  toggleHeaderRow,
} from "prosemirror-tables";
import type { BlockEditor, EditorBlock, PartialEditorBlock } from "../document-schema.ts";
import { BLOCK_TYPES, type BlockTypeName } from "./block-types.ts";
import type { Color, ColorKind } from "./colors.ts";

/** Puts an empty block below a block, and opens the menu of blocks there. An empty block is used itself. */
export function addBelow(editor: BlockEditor, block: EditorBlock): void {
  const isEmpty = Array.isArray(block.content) && block.content.length === 0;
  const added = isEmpty ? block : editor.insertBlocks([{ type: "paragraph" }], block, "after")[0];
  if (added === undefined) return;
  editor.setTextCursorPosition(added);
  editor.getExtension(SuggestionMenu)?.openSuggestionMenu("/");
}

/** Inserts a copy of a block, with what is below it, after it. */
export function duplicate(editor: BlockEditor, block: EditorBlock): void {
  const [copy] = editor.insertBlocks([withoutIds(block)], block, "after");
  if (copy !== undefined) moveCursor(editor, copy);
}

function withoutIds({ id: _id, children, ...block }: EditorBlock): PartialEditorBlock {
  return { ...block, children: children.map(withoutIds) } as PartialEditorBlock;
}

/** Removes a block; the cursor goes to the next one. */
export function remove(editor: BlockEditor, block: EditorBlock): void {
  const next = editor.getNextBlock(block) ?? editor.getPrevBlock(block);
  editor.removeBlocks([block]);
  if (next !== undefined) moveCursor(editor, next);
}

/** Moves a block before the one above it, or after the one below it. */
export function move(editor: BlockEditor, block: EditorBlock, direction: "up" | "down"): void {
  if (direction === "up") editor.moveBlocksUp(block);
  else editor.moveBlocksDown(block);
  moveCursor(editor, block);
}

/** Gives the text of a block another type. */
export function turnInto(editor: BlockEditor, block: EditorBlock, name: BlockTypeName): void {
  const { type, props } = BLOCK_TYPES[name].block as PartialEditorBlock;
  editor.updateBlock(block, { type, props } as PartialEditorBlock);
  moveCursor(editor, block);
}

export function setColor(editor: BlockEditor, block: EditorBlock, kind: ColorKind, color: Color): void {
  editor.updateBlock(block, { props: { [kind]: color } } as PartialEditorBlock);
}

/** What can be done with the table of the cursor, at its cell. */
export const TABLE_COMMANDS = {
  row_above: addRowBefore,
  row_below: addRowAfter,
  column_before: addColumnBefore,
  column_after: addColumnAfter,
  header_row: toggleHeaderRow,
  header_column: toggleHeaderColumn,
  merge_cells: mergeCells,
  split_cell: splitCell,
  delete_row: deleteRow,
  delete_column: deleteColumn,
} as const;

export type TableCommand = keyof typeof TABLE_COMMANDS;

export const runTableCommand = (editor: BlockEditor, name: TableCommand): void =>
  void editor.exec(TABLE_COMMANDS[name]);

/** Blocks without text have no place for a cursor. */
function moveCursor(editor: BlockEditor, block: Pick<EditorBlock, "id">): void {
  if (editor.getBlock(block.id) !== undefined) editor.setTextCursorPosition(block.id, "end");
}
