import type { BlockEditor, documentSchema, EditorBlock } from "../document-schema.ts";

/** What a request to the model is about. */
export interface SelectedContent {
  /** The blocks that an answer replaces; empty for a part of the text of one block. */
  readonly blocks: readonly EditorBlock[];
  /** The last block of the selection. */
  readonly last: EditorBlock;
  readonly markdown: string;
  readonly html: string;
}

/** The selected blocks, or the selected part of one block. */
export function selectedContent(editor: BlockEditor): SelectedContent {
  const blocks = editor.getSelection()?.blocks ?? [];
  const cursor = editor.getTextCursorPosition().block;
  if (blocks.length > 1)
    return {
      blocks,
      last: blocks.at(-1) ?? cursor,
      markdown: editor.blocksToMarkdownLossy([...blocks]),
      html: editor.blocksToHTMLLossy([...blocks]),
    };
  const text = editor.getSelectedText();
  const paragraph = document.createElement("p");
  paragraph.textContent = text;
  return { blocks: [], last: cursor, markdown: text, html: paragraph.outerHTML };
}

/** The text that HTML of the model shows. Nothing in it is run. */
export const textOfHtml = (html: string): string =>
  new DOMParser().parseFromString(html, "text/html").body.textContent;

/** Puts an answer in the place of what it is about. */
export function replaceContent(
  editor: BlockEditor,
  { blocks }: SelectedContent,
  answer: string,
  isHtml: boolean,
): void {
  const present = blocks.filter(({ id }) => editor.getBlock(id) !== undefined);
  if (blocks.length === 0) editor.insertInlineContent(isHtml ? textOfHtml(answer) : answer.trim());
  else if (present.length > 0) editor.replaceBlocks(present, parse(editor, answer, isHtml));
}

/** Puts an answer below what it is about. */
export function insertBelow(
  editor: BlockEditor,
  { last }: SelectedContent,
  answer: string,
  isHtml: boolean,
): void {
  const after = editor.getBlock(last.id) ?? editor.document.at(-1);
  if (after !== undefined) editor.insertBlocks(parse(editor, answer, isHtml), after, "after");
}

const parse = (
  editor: BlockEditor,
  answer: string,
  isHtml: boolean,
): (typeof documentSchema.PartialBlock)[] =>
  isHtml ? editor.tryParseHTMLToBlocks(answer) : editor.tryParseMarkdownToBlocks(answer);
