import { useEditorState } from "@blocknote/react";
import { IconChevronDown, IconPalette } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { useTranslation } from "../../../i18n/use-translation.ts";
import { useBlockEditor } from "../document-schema.ts";
import { ALIGNMENTS, alignmentGroup, alignmentOf, alignSelection } from "./alignment.ts";
import { turnIntoGroup } from "./block-menu.tsx";
import { typeNameOf } from "./block-types.ts";
import { colorGroup } from "./color-groups.tsx";
import type { Color, ColorKind } from "./colors.ts";
import { MenuButton } from "./menu-button.tsx";

const ICON_SIZE = 18;
const CHEVRON_SIZE = 14;

/** The type of the cursor's block, and a menu that changes it. */
export function TextTypeMenu(): ReactNode {
  const { t } = useTranslation();
  const editor = useBlockEditor();
  const block = useEditorState({ editor, selector: () => editor.getTextCursorPosition().block });
  const current = typeNameOf(block);
  if (!Array.isArray(block.content)) return null;
  const name = current === undefined ? block.type : t(`block.${current}`);
  return (
    <MenuButton label={`${name}: ${t("editor.turn_into")}`} groups={[turnIntoGroup(t, editor, block)]}>
      {name}
      <IconChevronDown size={CHEVRON_SIZE} stroke={1.75} aria-hidden />
    </MenuButton>
  );
}

/** Colors of the selected text. */
export function TextColorMenu(): ReactNode {
  const { t } = useTranslation();
  const editor = useBlockEditor();
  const styles = useEditorState({ editor, selector: () => editor.getActiveStyles() });
  const group = (kind: ColorKind) =>
    colorGroup(t, kind, styles[kind] ?? "default", (color: Color) =>
      color === "default" ? editor.removeStyles({ [kind]: color }) : editor.addStyles({ [kind]: color }),
    );
  return (
    <MenuButton label={t("editor.colors")} groups={[group("textColor"), group("backgroundColor")]}>
      <IconPalette size={ICON_SIZE} stroke={1.75} aria-hidden />
    </MenuButton>
  );
}

/** The alignment of the cursor's block, and a menu that changes that of the selected ones. */
export function TextAlignmentMenu(): ReactNode {
  const { t } = useTranslation();
  const editor = useBlockEditor();
  const current = useEditorState({
    editor,
    selector: () => alignmentOf(editor, editor.getTextCursorPosition().block),
  });
  if (current === undefined) return null;
  const { icon: Icon } = ALIGNMENTS[current];
  return (
    <MenuButton
      label={t("editor.alignment")}
      groups={[alignmentGroup(t, current, (alignment) => alignSelection(editor, alignment))]}
    >
      <Icon size={ICON_SIZE} stroke={1.75} aria-hidden />
    </MenuButton>
  );
}
