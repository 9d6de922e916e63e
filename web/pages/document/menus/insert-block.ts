import { FilePanelExtension, insertOrUpdateBlockForSlashMenu } from "@blocknote/core/extensions";
import type { BlockEditor } from "../document-schema.ts";
import { BLOCK_TYPES, type BlockTypeName } from "./block-types.ts";

/** Makes the empty block of the cursor one of the type, or inserts one below it. Files are asked for. */
export function insertBlock(editor: BlockEditor, name: BlockTypeName): void {
  const { block } = BLOCK_TYPES[name];
  const inserted = insertOrUpdateBlockForSlashMenu(editor, block);
  if (BLOCK_TYPES[name].group === "media") editor.getExtension(FilePanelExtension)?.showMenu(inserted.id);
}
