import { BlockNoteContext } from "@blocknote/react";
import { type HTMLAttributes, type ReactNode, useCallback, useEffect, useMemo, useState } from "react";
import type { ShownColorScheme } from "../../color-scheme.ts";
import { useShownColorScheme } from "../../components/use-color-scheme.ts";
import type { BlockEditor } from "./document-schema.ts";

interface Props {
  readonly editor: BlockEditor;
  readonly canEdit: boolean;
  /** Menus and toolbars, which find the editor in their context. */
  readonly children?: ReactNode;
}

/** The editor adds the role of a text box when it is mounted. */
const TEXT_PROPS: HTMLAttributes<HTMLElement> = { "aria-autocomplete": "list", "aria-haspopup": "listbox" };

const classesOf = (scheme: ShownColorScheme): string => `bn-root ${scheme}`;

/** The text of a block editor. BlockNote's own view contains all of its menus, also those that are not shown. */
export function BlockNoteView({ editor, canEdit, children }: Props): ReactNode {
  const scheme = useShownColorScheme();
  const [textProps, setTextProps] = useState<HTMLAttributes<HTMLElement>>();
  // The editor adds attributes to its element when it is mounted, which depend on whether it can be edited.
  const mount = useCallback(
    (element: HTMLElement | null) => {
      editor.isEditable = canEdit;
      if (element === null) editor.unmount();
      else editor.mount(element);
    },
    [editor, canEdit],
  );
  useEffect(() => {
    const portal = editor.portalElement;
    if (portal === undefined) return;
    portal.className = classesOf(scheme);
    portal.setAttribute("data-color-scheme", scheme);
  }, [editor, scheme]);
  const context = useMemo(() => ({ editor, setContentEditableProps: setTextProps }), [editor]);
  return (
    <BlockNoteContext value={context as never}>
      <div className={`${classesOf(scheme)} bn-container`} data-color-scheme={scheme}>
        <div ref={mount} {...TEXT_PROPS} {...textProps} />
        {children}
      </div>
    </BlockNoteContext>
  );
}
