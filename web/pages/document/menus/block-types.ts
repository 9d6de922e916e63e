import type { TablerIcon } from "@tabler/icons-react";
import {
  IconBlockquote,
  IconBulb,
  IconCode,
  IconFile,
  IconH1,
  IconH2,
  IconH3,
  IconLetterT,
  IconList,
  IconListCheck,
  IconListNumbers,
  IconListTree,
  IconMovie,
  IconMusic,
  IconPageBreak,
  IconPhoto,
  IconSeparatorHorizontal,
  IconTable,
} from "@tabler/icons-react";
import type { EditorBlock, PartialEditorBlock } from "../document-schema.ts";

interface BlockTypeDefinition {
  readonly group: "basic" | "lists" | "media" | "advanced";
  readonly icon: TablerIcon;
  readonly block: PartialEditorBlock;
  /** Keys of the editor that make the block of the cursor one of these. */
  readonly keys?: string;
  /** Whether text stays when a block becomes one of these. */
  readonly isText?: true;
}

const row = () => ({ cells: ["", "", ""] });

/** What can be inserted, in the order of the menu. */
export const BLOCK_TYPES = {
  paragraph: {
    group: "basic",
    icon: IconLetterT,
    block: { type: "paragraph" },
    keys: "Ctrl+Alt+0",
    isText: true,
  },
  heading_1: {
    group: "basic",
    icon: IconH1,
    block: { type: "heading", props: { level: 1 } },
    keys: "Ctrl+Alt+1",
    isText: true,
  },
  heading_2: {
    group: "basic",
    icon: IconH2,
    block: { type: "heading", props: { level: 2 } },
    keys: "Ctrl+Alt+2",
    isText: true,
  },
  heading_3: {
    group: "basic",
    icon: IconH3,
    block: { type: "heading", props: { level: 3 } },
    keys: "Ctrl+Alt+3",
    isText: true,
  },
  bullet_list: {
    group: "lists",
    icon: IconList,
    block: { type: "bulletListItem" },
    keys: "Ctrl+Shift+8",
    isText: true,
  },
  numbered_list: {
    group: "lists",
    icon: IconListNumbers,
    block: { type: "numberedListItem" },
    keys: "Ctrl+Shift+7",
    isText: true,
  },
  checklist: {
    group: "lists",
    icon: IconListCheck,
    block: { type: "checkListItem" },
    keys: "Ctrl+Shift+9",
    isText: true,
  },
  toggle_list: {
    group: "lists",
    icon: IconListTree,
    block: { type: "toggleListItem" },
    keys: "Ctrl+Shift+6",
    isText: true,
  },
  quote: { group: "basic", icon: IconBlockquote, block: { type: "quote" }, isText: true },
  callout: { group: "basic", icon: IconBulb, block: { type: "callout" }, isText: true },
  code: { group: "basic", icon: IconCode, block: { type: "codeBlock" }, keys: "Ctrl+Alt+C", isText: true },
  divider: { group: "basic", icon: IconSeparatorHorizontal, block: { type: "divider" } },
  page_break: { group: "advanced", icon: IconPageBreak, block: { type: "pageBreak" } },
  table: {
    group: "advanced",
    icon: IconTable,
    block: { type: "table", content: { type: "tableContent", headerRows: 1, rows: [row(), row(), row()] } },
  },
  image: { group: "media", icon: IconPhoto, block: { type: "image" } },
  file: { group: "media", icon: IconFile, block: { type: "file" } },
  video: { group: "media", icon: IconMovie, block: { type: "video" } },
  audio: { group: "media", icon: IconMusic, block: { type: "audio" } },
} as const satisfies Readonly<Record<string, BlockTypeDefinition>>;

export type BlockTypeName = keyof typeof BLOCK_TYPES;

export const BLOCK_TYPE_NAMES = Object.keys(BLOCK_TYPES) as readonly BlockTypeName[];

/** The types that a block with text can become. */
export const TEXT_TYPE_NAMES = BLOCK_TYPE_NAMES.filter((name) => "isText" in BLOCK_TYPES[name]);

/** Which of these a block is; undefined for others, such as a heading of level 5. */
export const typeNameOf = ({ type, props }: EditorBlock): BlockTypeName | undefined =>
  BLOCK_TYPE_NAMES.find((name) => {
    const { block }: BlockTypeDefinition = BLOCK_TYPES[name];
    const level = block.type === "heading" ? block.props?.level : undefined;
    return block.type === type && (level === undefined || ("level" in props && props.level === level));
  });
