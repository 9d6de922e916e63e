import { SideMenuExtension } from "@blocknote/core/extensions";
import { useExtension, useExtensionState } from "@blocknote/react";
import { IconGripVertical, IconPlus } from "@tabler/icons-react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { useTranslation } from "../../../i18n/use-translation.ts";
import { type BlockEditor, type EditorBlock, useBlockEditor } from "../document-schema.ts";
import { ActionMenu } from "./action-menu.tsx";
import { addBelow } from "./block-actions.ts";
import { blockMenu } from "./block-menu.tsx";
import { Floating } from "./floating.tsx";
import classes from "./menus.module.css";
import { BLOCK_MENU_EVENT } from "./open-block-menu.ts";

const ICON_SIZE = 18;

/** The buttons beside the block under the pointer, or beside that of the cursor while its menu is open (Ctrl+/). */
export function BlockHandle(): ReactNode {
  const { t } = useTranslation();
  const editor = useBlockEditor();
  const side = useExtension(SideMenuExtension);
  const hovered = useExtensionState(SideMenuExtension, {
    selector: (state) => (state?.show === true ? state.block.id : undefined),
  });
  const [opened, setOpened] = useState<string>();
  useMenuKey(setOpened);
  const handle = useRef<HTMLButtonElement>(null);
  const id = opened ?? hovered;
  const block = id === undefined ? undefined : (editor.getBlock(id) as EditorBlock | undefined);
  if (block === undefined) return null;
  const open = (): void => {
    if (side.store.state !== undefined) side.freezeMenu();
    // Its actions concern the block of the cursor.
    editor.setTextCursorPosition(block);
    setOpened(block.id);
  };
  const close = (): void => {
    // Before a pointer was over the text, there is nothing to hide.
    if (side.store.state !== undefined) side.unfreezeMenu();
    setOpened(undefined);
    editor.focus();
  };
  return (
    <>
      <Floating rect={() => lineOf(editor, block.id)} side="before" className={classes.handle}>
        <button
          type="button"
          tabIndex={-1}
          aria-label={t("editor.add_below")}
          title={t("editor.add_below")}
          onClick={() => addBelow(editor, block)}
        >
          <IconPlus size={ICON_SIZE} stroke={1.75} aria-hidden />
        </button>
        <button
          ref={handle}
          type="button"
          tabIndex={-1}
          aria-label={t("editor.block_menu")}
          title={`${t("editor.block_menu")} (Ctrl+/)`}
          aria-haspopup="menu"
          aria-expanded={opened !== undefined}
          draggable
          onDragStart={(event) => side.blockDragStart(event, block)}
          onDragEnd={side.blockDragEnd}
          onClick={open}
        >
          <IconGripVertical size={ICON_SIZE} stroke={1.75} aria-hidden />
        </button>
      </Floating>
      {opened !== undefined && (
        <ActionMenu
          label={t("editor.block_menu")}
          groups={blockMenu(t, editor, block)}
          rect={() => handle.current?.getBoundingClientRect()}
          onClose={close}
        />
      )}
    </>
  );
}

/** Ctrl+/ opens the menu of the cursor's block. */
function useMenuKey(open: (id: string) => void): void {
  const editor = useBlockEditor();
  useEffect(() => {
    const element = editor.domElement;
    const onOpen = (): void => open(editor.getTextCursorPosition().block.id);
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.key !== "/" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      event.stopPropagation();
      onOpen();
    };
    element?.addEventListener("keydown", onKeyDown);
    element?.addEventListener(BLOCK_MENU_EVENT, onOpen);
    return () => {
      element?.removeEventListener("keydown", onKeyDown);
      element?.removeEventListener(BLOCK_MENU_EVENT, onOpen);
    };
  }, [editor, open]);
}

/** The first line of a block. */
function lineOf(editor: BlockEditor, id: string): DOMRect | undefined {
  const content = editor.domElement?.querySelector(
    `[data-node-type=blockContainer][data-id="${CSS.escape(id)}"]`,
  );
  const group = editor.domElement?.firstElementChild;
  if (!content || !group) return undefined;
  const { top } = content.getBoundingClientRect();
  return new DOMRect(group.getBoundingClientRect().left, top, 0, 0);
}
