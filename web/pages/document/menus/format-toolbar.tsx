import { FormattingToolbarExtension, ShowSelectionExtension } from "@blocknote/core/extensions";
import { useEditorState, useExtension, useExtensionState } from "@blocknote/react";
import {
  IconBold,
  IconCode,
  IconDots,
  IconItalic,
  IconLink,
  IconMessage,
  IconStrikethrough,
  IconUnderline,
  type TablerIcon,
} from "@tabler/icons-react";
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { useTranslation } from "../../../i18n/use-translation.ts";
import { type BlockEditor, useBlockEditor } from "../document-schema.ts";
import { Floating } from "./floating.tsx";
import { LinkForm } from "./link-form.tsx";
import classes from "./menus.module.css";
import { openBlockMenu } from "./open-block-menu.ts";
import { TextAlignmentMenu, TextColorMenu, TextTypeMenu } from "./text-menus.tsx";

const ICON_SIZE = 18;
/** Who shows the selection while the focus is elsewhere. */
const SELECTION = "weft-toolbar";
const STYLES = [
  ["bold", IconBold, "Ctrl+B"],
  ["italic", IconItalic, "Ctrl+I"],
  ["underline", IconUnderline, "Ctrl+U"],
  ["strike", IconStrikethrough, "Ctrl+Shift+S"],
  ["code", IconCode, "Ctrl+E"],
] as const;

interface Props {
  /** Undefined if the user may not comment. */
  readonly onComment: (() => void) | undefined;
  /** What else can be done with the selected text. */
  readonly children?: ReactNode;
}

/** The toolbar of the selected text. Alt+F10 leads into it, Escape back to the text. */
export function FormatToolbar({ onComment, children }: Props): ReactNode {
  const { t } = useTranslation();
  const editor = useBlockEditor();
  const isSelected = useExtensionState(FormattingToolbarExtension);
  const isText = useEditorState({ editor, selector: () => !("node" in editor.prosemirrorState.selection) });
  const isShown = isSelected && isText;
  const [isLinking, setLinking] = useState(false);
  const toolbar = useRef<HTMLDivElement>(null);
  useToolbarKeys(
    isShown,
    () => toolbar.current?.querySelector<HTMLElement>("button")?.focus(),
    () => setLinking(true),
    onComment,
  );
  useEffect(() => {
    if (!isShown) setLinking(false);
  }, [isShown]);
  const { showSelection } = useExtension(ShowSelectionExtension);
  const [hasFocus, setFocus] = useState(false);
  const isVisible = isShown && (hasFocus || isLinking);
  useEffect(() => {
    if (!isVisible) return;
    showSelection(true, SELECTION);
    return () => showSelection(false, SELECTION);
  }, [isVisible, showSelection]);
  const styles = useEditorState({ editor, selector: () => editor.getActiveStyles() });
  if (!isShown) return null;
  if (isLinking)
    return (
      <Floating rect={() => selectionRect(editor)} side="above" className={classes.panel}>
        <LinkForm
          url={editor.getSelectedLinkUrl() ?? ""}
          onSubmit={(url) => {
            editor.focus();
            editor.createLink(url);
            setLinking(false);
          }}
          onCancel={() => {
            setLinking(false);
            editor.focus();
          }}
        />
      </Floating>
    );
  return (
    <Floating rect={() => selectionRect(editor)} side="above" className={classes.toolbar}>
      <div
        ref={toolbar}
        role="toolbar"
        aria-label={t("editor.format")}
        onKeyDown={(event) => moveInToolbar(event, () => editor.focus())}
        onMouseDown={(event) => event.preventDefault()}
        onFocus={() => setFocus(true)}
        onBlur={() => setFocus(false)}
      >
        <TextTypeMenu />
        {STYLES.map(([name, icon, keys]) => (
          <ToolbarButton
            key={name}
            label={t(`editor.${name}`)}
            keys={keys}
            icon={icon}
            isPressed={styles[name] === true}
            onClick={() => editor.toggleStyles({ [name]: true })}
          />
        ))}
        <ToolbarButton
          label={t("editor.link")}
          keys="Ctrl+K"
          icon={IconLink}
          onClick={() => setLinking(true)}
        />
        <TextAlignmentMenu />
        <TextColorMenu />
        {onComment !== undefined && (
          <ToolbarButton
            label={t("editor.comment")}
            keys="Ctrl+Alt+M"
            icon={IconMessage}
            onClick={onComment}
          />
        )}
        {children}
        <ToolbarButton
          label={t("editor.block_menu")}
          keys="Ctrl+/"
          icon={IconDots}
          onClick={() => openBlockMenu(editor)}
        />
      </div>
    </Floating>
  );
}

interface ButtonProps {
  readonly label: string;
  readonly keys: string;
  readonly icon: TablerIcon;
  readonly isPressed?: boolean;
  readonly onClick: () => void;
}

const ToolbarButton = ({ label, keys, icon: Icon, isPressed, onClick }: ButtonProps): ReactNode => (
  <button
    type="button"
    aria-label={label}
    title={`${label} (${keys})`}
    aria-pressed={isPressed}
    className={classes.tool}
    onClick={onClick}
  >
    <Icon size={ICON_SIZE} stroke={1.75} aria-hidden />
  </button>
);

/** Arrow keys within a toolbar. */
function moveInToolbar(event: KeyboardEvent<HTMLElement>, leave: () => void): void {
  const buttons = [...event.currentTarget.querySelectorAll<HTMLElement>("button:not(:disabled)")];
  const current = buttons.indexOf(document.activeElement as HTMLElement);
  const next = {
    ArrowRight: (current + 1) % buttons.length,
    ArrowLeft: (current + buttons.length - 1) % buttons.length,
    Home: 0,
    End: buttons.length - 1,
  }[event.key];
  if (next !== undefined && current >= 0) {
    event.preventDefault();
    buttons[next]?.focus();
  } else if (event.key === "Escape") {
    event.preventDefault();
    leave();
  }
}

function useToolbarKeys(
  isShown: boolean,
  focus: () => void,
  link: () => void,
  comment: (() => void) | undefined,
): void {
  const editor = useBlockEditor();
  const latest = useRef({ focus, link, comment });
  latest.current = { focus, link, comment };
  useEffect(() => {
    const element = editor.domElement;
    if (!isShown) return;
    const onKeyDown = (event: globalThis.KeyboardEvent): void => {
      const isControl = event.ctrlKey || event.metaKey;
      const key = event.key.toLowerCase();
      const run =
        event.altKey && key === "f10"
          ? latest.current.focus
          : isControl && !event.altKey && key === "k"
            ? latest.current.link
            : isControl && event.altKey && key === "m"
              ? latest.current.comment
              : undefined;
      if (run === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      run();
    };
    element?.addEventListener("keydown", onKeyDown);
    return () => element?.removeEventListener("keydown", onKeyDown);
  }, [isShown, editor]);
}

/** The selected text in the window. */
export function selectionRect(editor: BlockEditor): DOMRect | undefined {
  const view = editor.prosemirrorView;
  const { from, to } = view.state.selection;
  if (from > view.state.doc.content.size) return undefined;
  const start = view.coordsAtPos(from);
  const end = view.coordsAtPos(to, -1);
  const left = Math.min(start.left, end.left);
  return new DOMRect(left, start.top, Math.max(start.right, end.right) - left, end.bottom - start.top);
}
