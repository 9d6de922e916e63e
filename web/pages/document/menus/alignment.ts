import {
  IconAlignCenter,
  IconAlignJustified,
  IconAlignLeft,
  IconAlignRight,
  type TablerIcon,
} from "@tabler/icons-react";
import type { TFunction } from "i18next";
import { cellAround, setCellAttr } from "prosemirror-tables";
import type { BlockEditor, EditorBlock, PartialEditorBlock } from "../document-schema.ts";
import type { MenuGroup } from "./action-menu.tsx";

/** How text is aligned, with the keys that other editors have for it. */
export const ALIGNMENTS = {
  left: { icon: IconAlignLeft, key: "l" },
  center: { icon: IconAlignCenter, key: "e" },
  right: { icon: IconAlignRight, key: "r" },
  justify: { icon: IconAlignJustified, key: "j" },
} as const satisfies Readonly<Record<string, { readonly icon: TablerIcon; readonly key: string }>>;

export type Alignment = keyof typeof ALIGNMENTS;

const NAMES = Object.keys(ALIGNMENTS) as readonly Alignment[];

export const alignmentByKey = (key: string): Alignment | undefined =>
  NAMES.find((name) => ALIGNMENTS[name].key === key);

/** The alignment of a block, in a table that of the cursor's cell. Undefined for blocks without text of their own. */
export function alignmentOf(editor: BlockEditor, { type, props }: EditorBlock): Alignment | undefined {
  const value: unknown =
    type === "table"
      ? cellAround(editor.prosemirrorState.selection.$from)?.nodeAfter?.attrs["textAlignment"]
      : "textAlignment" in props
        ? props.textAlignment
        : undefined;
  return NAMES.find((name) => name === value);
}

/** Aligns blocks as one change, in a table the selected cells. */
export function align(editor: BlockEditor, blocks: readonly EditorBlock[], alignment: Alignment): void {
  editor.transact(() => {
    for (const block of blocks.filter(({ props }) => "textAlignment" in props))
      editor.updateBlock(block, { props: { textAlignment: alignment } } as PartialEditorBlock);
  });
  if (blocks.some(({ type }) => type === "table")) editor.exec(setCellAttr("textAlignment", alignment));
}

/** Aligns the selected blocks, or that of the cursor. */
export const alignSelection = (editor: BlockEditor, alignment: Alignment): void =>
  align(editor, editor.getSelection()?.blocks ?? [editor.getTextCursorPosition().block], alignment);

/** The alignments that can be chosen. */
export const alignmentGroup = (
  t: TFunction,
  current: Alignment | undefined,
  onChoose: (alignment: Alignment) => void,
): MenuGroup => ({
  id: "alignments",
  entries: NAMES.map((name) => ({
    id: name,
    label: t(`editor.align_${name}`),
    icon: ALIGNMENTS[name].icon,
    keys: `Ctrl+Shift+${ALIGNMENTS[name].key.toUpperCase()}`,
    isChecked: name === current,
    run: () => onChoose(name),
  })),
});
