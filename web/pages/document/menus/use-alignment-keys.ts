import { useEffect } from "react";
import { useBlockEditor } from "../document-schema.ts";
import { alignmentByKey, alignSelection } from "./alignment.ts";

/** Ctrl+Shift with a letter aligns the selected blocks. */
export function useAlignmentKeys(): void {
  const editor = useBlockEditor();
  useEffect(() => {
    const element = editor.domElement;
    const onKeyDown = (event: KeyboardEvent): void => {
      if (!(event.ctrlKey || event.metaKey) || !event.shiftKey || event.altKey) return;
      const alignment = alignmentByKey(event.key.toLowerCase());
      if (alignment === undefined) return;
      // Some of these keys reload the page or open a window of the browser.
      event.preventDefault();
      event.stopPropagation();
      alignSelection(editor, alignment);
    };
    element?.addEventListener("keydown", onKeyDown);
    return () => element?.removeEventListener("keydown", onKeyDown);
  }, [editor]);
}
