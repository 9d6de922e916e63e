import type { ReactNode } from "react";
import { Dialog } from "../components/dialog.tsx";
import { useTranslation } from "../i18n/use-translation.ts";
import { NAVIGATION } from "./navigation.ts";
import classes from "./shell.module.css";

interface Props {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

/** Shortcuts besides those of the navigation. */
const SHORTCUTS = [
  ["Ctrl+K", "shortcuts.palette"],
  ["/", "shortcuts.filter"],
  ["c", "shortcuts.create"],
  ["[", "shortcuts.sidebar"],
  ["?", "shortcuts.sheet"],
] as const;

/** Keys in the text of a document; that of the presentation is one of the whole page. */
const EDITOR_SHORTCUTS = [
  ["/", "shortcuts.blocks"],
  ["@", "shortcuts.mention"],
  [":", "shortcuts.emoji"],
  ["Ctrl+/", "shortcuts.block_menu"],
  ["Alt+F10", "shortcuts.toolbar"],
  ["Ctrl+K", "shortcuts.link"],
  ["Ctrl+Alt+M", "shortcuts.comment"],
  ["Ctrl+Shift+↑", "shortcuts.move_up"],
  ["Ctrl+Shift+↓", "shortcuts.move_down"],
  ["Ctrl+Alt+P", "shortcuts.present"],
  ["Ctrl+Shift+L", "shortcuts.align_left"],
  ["Ctrl+Shift+E", "shortcuts.align_center"],
  ["Ctrl+Shift+R", "shortcuts.align_right"],
  ["Ctrl+Shift+J", "shortcuts.align_justify"],
] as const;

export function ShortcutSheet({ isOpen, onClose }: Props): ReactNode {
  const { t } = useTranslation();
  const rows = [
    ...SHORTCUTS.map(([keys, text]) => [keys, t(text)] as const),
    ...NAVIGATION.map(({ keys, title }) => [keys, t("shortcuts.go_to", { page: t(title) })] as const),
  ];
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title={t("shortcuts.title")}>
      <Rows rows={rows} />
      <h3>{t("shortcuts.editor")}</h3>
      <Rows rows={EDITOR_SHORTCUTS.map(([keys, text]) => [keys, t(text)] as const)} />
    </Dialog>
  );
}

/** Keys, and what they do. */
function Rows({ rows }: { readonly rows: readonly (readonly [string, string])[] }): ReactNode {
  const { t } = useTranslation();
  return (
    <dl className={classes.shortcuts}>
      {rows.map(([keys, text]) => (
        <div key={keys}>
          <dt>{text}</dt>
          <dd>
            {keys.split(" ").map((key, index) => (
              <span key={key}>
                {index > 0 && ` ${t("shortcuts.then")} `}
                <kbd>{key}</kbd>
              </span>
            ))}
          </dd>
        </div>
      ))}
    </dl>
  );
}
