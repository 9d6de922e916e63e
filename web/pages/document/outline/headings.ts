import type { BlockEditor } from "../document-schema.ts";

const TEXT_MAX_LENGTH = 200;

export interface Heading {
  readonly id: string;
  readonly level: number;
  readonly text: string;
}

/** The headings of a document in their order, also those below other blocks. */
export function headingsOf(editor: BlockEditor): readonly Heading[] {
  const headings: Heading[] = [];
  editor.prosemirrorState.doc.descendants((node, _position, parent) => {
    if (node.type.name === "heading") {
      const text = node.textBetween(0, node.content.size, " ", " ").trim().slice(0, TEXT_MAX_LENGTH);
      if (text !== "") headings.push({ id: String(parent?.attrs.id), level: Number(node.attrs.level), text });
    }
    return !node.isTextblock;
  });
  return headings;
}
