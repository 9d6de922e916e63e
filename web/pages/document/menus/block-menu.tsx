import { FilePanelExtension } from "@blocknote/core/extensions";
import {
  IconAlignLeft,
  IconArrowDown,
  IconArrowUp,
  IconCopy,
  IconIndentDecrease,
  IconIndentIncrease,
  IconPalette,
  IconPencil,
  IconPlus,
  IconPresentation,
  IconTable,
  IconTransform,
  IconTrash,
} from "@tabler/icons-react";
import type { TFunction } from "i18next";
import type { BlockEditor, EditorBlock } from "../document-schema.ts";
import { presentFrom } from "../presenter/present-from.ts";
import type { MenuGroup, Submenu } from "./action-menu.tsx";
import { align, alignmentGroup, alignmentOf } from "./alignment.ts";
import {
  addBelow,
  duplicate,
  move,
  remove,
  runTableCommand,
  setColor,
  TABLE_COMMANDS,
  type TableCommand,
  turnInto,
} from "./block-actions.ts";
import { BLOCK_TYPES, TEXT_TYPE_NAMES, typeNameOf } from "./block-types.ts";
import { colorGroup } from "./color-groups.tsx";

/** What can be done with a block. */
export function blockMenu(t: TFunction, editor: BlockEditor, block: EditorBlock): readonly MenuGroup[] {
  const isText = Array.isArray(block.content);
  return [
    {
      id: "change",
      entries: [
        { id: "add", label: t("editor.add_below"), icon: IconPlus, run: () => addBelow(editor, block) },
        isText
          ? {
              id: "turn",
              label: t("editor.turn_into"),
              icon: IconTransform,
              groups: [turnIntoGroup(t, editor, block)],
            }
          : [],
        "url" in block.props ? fileEntry(t, editor, block) : [],
        block.type === "table" ? tableMenu(t, editor) : [],
        alignmentMenu(t, editor, block),
        colorMenu(t, editor, block),
      ].flat(),
    },
    {
      id: "place",
      entries: [
        {
          id: "duplicate",
          label: t("editor.duplicate"),
          icon: IconCopy,
          run: () => duplicate(editor, block),
        },
        {
          id: "up",
          label: t("editor.move_up"),
          icon: IconArrowUp,
          keys: "Ctrl+Shift+↑",
          run: () => move(editor, block, "up"),
        },
        {
          id: "down",
          label: t("editor.move_down"),
          icon: IconArrowDown,
          keys: "Ctrl+Shift+↓",
          run: () => move(editor, block, "down"),
        },
        ...(isText ? indentation(t, editor) : []),
        {
          id: "present",
          label: t("editor.present"),
          icon: IconPresentation,
          keys: "Ctrl+Alt+P",
          run: () => presentFrom(editor, block.id),
        },
      ],
    },
    {
      id: "end",
      entries: [
        { id: "delete", label: t("editor.delete"), icon: IconTrash, run: () => remove(editor, block) },
      ],
    },
  ];
}

/** The types that the text of a block can get. */
export function turnIntoGroup(t: TFunction, editor: BlockEditor, block: EditorBlock): MenuGroup {
  const current = typeNameOf(block);
  return {
    id: "types",
    entries: TEXT_TYPE_NAMES.map((name) => ({
      id: name,
      label: t(`block.${name}`),
      icon: BLOCK_TYPES[name].icon,
      isChecked: name === current,
      run: () => turnInto(editor, block, name),
    })),
  };
}

const fileEntry = (t: TFunction, editor: BlockEditor, block: EditorBlock) => ({
  id: "file",
  label: t("editor.edit_file"),
  icon: IconPencil,
  run: () => editor.getExtension(FilePanelExtension)?.showMenu(block.id),
});

const tableMenu = (t: TFunction, editor: BlockEditor): Submenu => ({
  id: "table",
  label: t("editor.table"),
  icon: IconTable,
  groups: [
    {
      id: "commands",
      entries: (Object.keys(TABLE_COMMANDS) as TableCommand[]).map((name) => ({
        id: name,
        label: t(`table.${name}`),
        isDisabled: !editor.canExec(TABLE_COMMANDS[name]),
        run: () => runTableCommand(editor, name),
      })),
    },
  ],
});

function alignmentMenu(t: TFunction, editor: BlockEditor, block: EditorBlock): Submenu | [] {
  const current = alignmentOf(editor, block);
  if (current === undefined) return [];
  return {
    id: "alignment",
    label: t("editor.alignment"),
    icon: IconAlignLeft,
    groups: [alignmentGroup(t, current, (alignment) => align(editor, [block], alignment))],
  };
}

function colorMenu(t: TFunction, editor: BlockEditor, block: EditorBlock): Submenu | [] {
  const props: Readonly<Record<string, unknown>> = block.props;
  const kinds = (["textColor", "backgroundColor"] as const).filter((kind) => kind in props);
  if (kinds.length === 0) return [];
  return {
    id: "colors",
    label: t("editor.colors"),
    icon: IconPalette,
    groups: kinds.map((kind) =>
      colorGroup(t, kind, String(props[kind]), (color) => setColor(editor, block, kind, color)),
    ),
  };
}

const indentation = (t: TFunction, editor: BlockEditor) => [
  {
    id: "indent",
    label: t("editor.indent"),
    icon: IconIndentIncrease,
    keys: "Tab",
    isDisabled: !editor.canNestBlock(),
    run: () => editor.nestBlock(),
  },
  {
    id: "outdent",
    label: t("editor.outdent"),
    icon: IconIndentDecrease,
    keys: "Shift+Tab",
    isDisabled: !editor.canUnnestBlock(),
    run: () => editor.unnestBlock(),
  },
];
