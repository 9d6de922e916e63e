import { SuggestionMenu } from "@blocknote/core/extensions";
import { useBlockNoteContext, useExtension, useExtensionState } from "@blocknote/react";
import { useEffect } from "react";
import { useBlockEditor } from "../document-schema.ts";

/** What a user types after the character that opens a menu. */
export interface Suggestions {
  readonly query: string;
  /** Whether another menu opened it, and not a typed character. */
  readonly isRequested: boolean;
  readonly rect: () => DOMRect | undefined;
  readonly close: () => void;
  /** Removes the character and what was typed after it. */
  readonly clear: () => void;
}

const SPACE = /\s/;

/** The state of the menu that a character opens at the beginning of a word. Undefined while it is closed. */
export function useSuggestions(trigger: string): Suggestions | undefined {
  const editor = useBlockEditor();
  const menu = useExtension(SuggestionMenu);
  const state = useExtensionState(SuggestionMenu);
  useEffect(() => {
    menu.addSuggestionMenu({
      triggerCharacter: trigger,
      shouldOpen: ({ selection: { $from } }) => {
        const before = $from.parent.textBetween(0, $from.parentOffset, undefined, " ").at(-1);
        const isInTable = $from.parent.type.isInGroup("tableContent");
        return (before === undefined || SPACE.test(before)) && !(isInTable && trigger === "/");
      },
    });
    return () => menu.removeSuggestionMenu(trigger);
  }, [menu, trigger]);
  if (state?.show !== true || state.triggerCharacter !== trigger) return undefined;
  return {
    query: state.query,
    isRequested: state.ignoreQueryLength === true,
    rect: () => markedRect(editor.domElement) ?? state.referencePos,
    close: menu.closeMenu,
    clear: () => {
      menu.closeMenu();
      menu.clearQuery();
    },
  };
}

/** Where the character is now. */
const markedRect = (editor: HTMLElement | undefined): DOMRect | undefined =>
  editor?.querySelector(".bn-suggestion-decorator")?.getBoundingClientRect();

const TEXTBOX = { role: "textbox" } as const;

/** While a list is open, the editor is the combobox that controls it. */
export function useCombobox(list: string, active: string | undefined): void {
  const setProps = useBlockNoteContext()?.setContentEditableProps;
  useEffect(() => {
    setProps?.({
      role: "combobox",
      "aria-expanded": true,
      "aria-controls": list,
      "aria-activedescendant": active,
    });
  }, [setProps, list, active]);
  useEffect(() => () => setProps?.(TEXTBOX), [setProps]);
}
