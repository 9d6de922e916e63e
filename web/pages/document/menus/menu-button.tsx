import { type ReactNode, useRef, useState } from "react";
import { useBlockEditor } from "../document-schema.ts";
import { ActionMenu, type MenuGroup } from "./action-menu.tsx";
import classes from "./menus.module.css";

interface Props {
  readonly label: string;
  readonly groups: readonly MenuGroup[];
  readonly children: ReactNode;
}

/** A button of a toolbar that opens a menu. */
export function MenuButton({ label, groups, children }: Props): ReactNode {
  const editor = useBlockEditor();
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button
        ref={button}
        type="button"
        className={classes.tool}
        aria-label={label}
        title={label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        onKeyDown={(event) => {
          if (event.key !== "ArrowDown") return;
          event.preventDefault();
          setOpen(true);
        }}
      >
        {children}
      </button>
      {isOpen && (
        <ActionMenu
          label={label}
          groups={groups}
          rect={() => button.current?.getBoundingClientRect()}
          onClose={() => {
            setOpen(false);
            editor.focus();
          }}
        />
      )}
    </>
  );
}
