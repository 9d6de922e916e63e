import type { BlockEditor } from "../document-schema.ts";

/** Tells the editor to open the menu of the cursor's block. */
export const BLOCK_MENU_EVENT = "weft:block-menu";

/** Opens the menu of the cursor's block, as Ctrl+/ does. */
export const openBlockMenu = (editor: BlockEditor): void =>
  void editor.domElement?.dispatchEvent(new CustomEvent(BLOCK_MENU_EVENT));
