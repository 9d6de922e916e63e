import { useEditorState } from "@blocknote/react";
import {
  IconColumnInsertLeft,
  IconColumnInsertRight,
  IconColumnRemove,
  IconRowInsertBottom,
  IconRowInsertTop,
  IconRowRemove,
} from "@tabler/icons-react";
import type { ReactNode } from "react";
import { useTranslation } from "../../../i18n/use-translation.ts";
import { useBlockEditor } from "../document-schema.ts";
import { runTableCommand } from "./block-actions.ts";
import { Floating } from "./floating.tsx";
import classes from "./menus.module.css";

const ICON_SIZE = 18;
const BUTTONS = [
  ["row_above", IconRowInsertTop],
  ["row_below", IconRowInsertBottom],
  ["column_before", IconColumnInsertLeft],
  ["column_after", IconColumnInsertRight],
  ["delete_row", IconRowRemove],
  ["delete_column", IconColumnRemove],
] as const;

/** What is done most with the table of the cursor. The menu of the block has all commands. */
export function TableToolbar(): ReactNode {
  const { t } = useTranslation();
  const editor = useBlockEditor();
  const id = useEditorState({
    editor,
    selector: () => {
      const { block } = editor.getTextCursorPosition();
      const { empty, $from } = editor.prosemirrorState.selection;
      return block.type === "table" && empty && $from.parent.type.isInGroup("tableContent")
        ? block.id
        : undefined;
    },
  });
  if (id === undefined) return null;
  return (
    <Floating
      rect={() =>
        editor.domElement?.querySelector(`[data-id="${CSS.escape(id)}"] table`)?.getBoundingClientRect()
      }
      side="above"
      className={classes.toolbar}
    >
      <div role="toolbar" aria-label={t("editor.table")} onMouseDown={(event) => event.preventDefault()}>
        {BUTTONS.map(([name, Icon]) => (
          <button
            key={name}
            type="button"
            className={classes.tool}
            aria-label={t(`table.${name}`)}
            title={t(`table.${name}`)}
            onClick={() => runTableCommand(editor, name)}
          >
            <Icon size={ICON_SIZE} stroke={1.75} aria-hidden />
          </button>
        ))}
      </div>
    </Floating>
  );
}
