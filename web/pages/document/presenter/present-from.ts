import type { BlockEditor } from "../document-schema.ts";

/** Asks for the presentation; the detail is the id of the block at which it begins. */
export const PRESENT_EVENT = "weft:present";

/** Presents the document from the slide of a block on. */
export const presentFrom = (editor: BlockEditor, block: string): void =>
  void editor.domElement?.dispatchEvent(new CustomEvent(PRESENT_EVENT, { detail: block }));
