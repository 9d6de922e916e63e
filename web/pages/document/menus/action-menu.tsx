import { IconCheck, IconChevronRight, type TablerIcon } from "@tabler/icons-react";
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { Floating } from "./floating.tsx";
import classes from "./menus.module.css";

const ICON_SIZE = 16;
/** Keys within this time are one text that an entry begins with, milliseconds. */
const TYPING_MS = 500;

export interface MenuAction {
  readonly id: string;
  readonly label: string;
  readonly icon?: TablerIcon;
  /** Shown in the place of an icon. */
  readonly sample?: ReactNode;
  /** Keys that do the same. */
  readonly keys?: string;
  readonly isDisabled?: boolean;
  /** Whether it is the chosen one of its group. Undefined for an action. */
  readonly isChecked?: boolean;
  readonly run: () => void;
}
export interface Submenu extends Pick<MenuAction, "id" | "label" | "icon"> {
  readonly groups: readonly MenuGroup[];
}
export interface MenuGroup {
  readonly id: string;
  /** Shown above the entries. */
  readonly label?: string;
  readonly entries: readonly (MenuAction | Submenu)[];
}

interface Props {
  readonly label: string;
  readonly groups: readonly MenuGroup[];
  readonly rect: () => DOMRect | undefined;
  readonly side?: "below" | "after";
  /** Called before an action runs, and when the menu is left. The focus is to go back then. */
  readonly onClose: () => void;
  /** Called when the left arrow leaves a submenu. */
  readonly onBack?: () => void;
}

/** A menu by the pattern of the WAI-ARIA Authoring Practices: arrows, Home, End and first letters move the focus. */
export function ActionMenu({ label, groups, rect, side = "below", onClose, onBack }: Props): ReactNode {
  const [opened, setOpened] = useState<{ readonly submenu: Submenu; readonly item: HTMLElement }>();
  const menu = useRef<HTMLDivElement>(null);
  const typed = useRef({ text: "", at: 0 });
  const ids = useId();
  useEffect(() => itemsOf(menu.current)[0]?.focus(), []);
  useClicksOutside(onClose);
  const choose = (entry: MenuAction | Submenu, item: HTMLElement): void => {
    if ("groups" in entry) setOpened({ submenu: entry, item });
    else if (entry.isDisabled !== true) {
      onClose();
      entry.run();
    }
  };
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>): void => {
    const items = itemsOf(menu.current);
    const current = items.indexOf(document.activeElement as HTMLElement);
    const moves: Readonly<Record<string, () => void>> = {
      ArrowDown: () => items[(current + 1) % items.length]?.focus(),
      ArrowUp: () => items[(current + items.length - 1) % items.length]?.focus(),
      Home: () => items[0]?.focus(),
      End: () => items.at(-1)?.focus(),
      ArrowRight: () => {
        if (items[current]?.ariaHasPopup === "menu") items[current].click();
      },
      ArrowLeft: () => onBack?.(),
      Escape: onBack ?? onClose,
      Tab: onClose,
    };
    const move =
      moves[event.key] ?? (event.key.length === 1 ? () => focusTyped(items, current, event.key) : undefined);
    event.stopPropagation();
    if (move === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    // Enter and Space click the item.
    if (event.key === " ") return;
    event.preventDefault();
    move();
  };
  const focusTyped = (items: readonly HTMLElement[], current: number, key: string): void => {
    const now = performance.now();
    const isNext = now - typed.current.at < TYPING_MS;
    typed.current = { text: (isNext ? typed.current.text : "") + key.toLowerCase(), at: now };
    const { text } = typed.current;
    const from = current + (text.length === 1 ? 1 : 0);
    const ordered = [...items.slice(from), ...items.slice(0, from)];
    ordered.find((item) => item.dataset.label?.toLowerCase().startsWith(text))?.focus();
  };
  return (
    <>
      <Floating rect={rect} side={side} className={classes.menu}>
        <div ref={menu} role="menu" tabIndex={-1} aria-label={label} onKeyDown={onKeyDown}>
          {groups.map((group, at) => (
            // biome-ignore lint/a11y/useSemanticElements: a group of a menu is no fieldset
            <div key={group.id} role="group" aria-labelledby={group.label && `${ids}-${group.id}`}>
              {at > 0 && group.label === undefined && <hr className={classes.line} />}
              {group.label !== undefined && (
                <div id={`${ids}-${group.id}`} role="none" className={classes.group}>
                  {group.label}
                </div>
              )}
              {group.entries.map((entry) => (
                <Item
                  key={entry.id}
                  entry={entry}
                  isExpanded={opened?.submenu.id === entry.id}
                  onChoose={(item) => choose(entry, item)}
                />
              ))}
            </div>
          ))}
        </div>
      </Floating>
      {opened !== undefined && (
        <ActionMenu
          key={opened.submenu.id}
          label={opened.submenu.label}
          groups={opened.submenu.groups}
          rect={() => opened.item.getBoundingClientRect()}
          side="after"
          onClose={onClose}
          onBack={() => {
            setOpened(undefined);
            opened.item.focus();
          }}
        />
      )}
    </>
  );
}

interface ItemProps {
  readonly entry: MenuAction | Submenu;
  readonly isExpanded: boolean;
  readonly onChoose: (item: HTMLElement) => void;
}

function Item({ entry, isExpanded, onChoose }: ItemProps): ReactNode {
  const isSubmenu = "groups" in entry;
  const { icon: Icon } = entry;
  const state = isSubmenu
    ? ({ role: "menuitem", "aria-haspopup": "menu", "aria-expanded": isExpanded } as const)
    : entry.isChecked === undefined
      ? ({ role: "menuitem", "aria-disabled": entry.isDisabled === true || undefined } as const)
      : ({ role: "menuitemradio", "aria-checked": entry.isChecked } as const);
  return (
    <button
      type="button"
      {...state}
      tabIndex={-1}
      data-label={entry.label}
      className={classes.option}
      onMouseMove={({ currentTarget }) => currentTarget.focus()}
      onClick={({ currentTarget }) => onChoose(currentTarget)}
    >
      {Icon !== undefined && <Icon size={ICON_SIZE} stroke={1.75} className={classes.icon} aria-hidden />}
      {!isSubmenu && entry.sample}
      <span className={classes.label}>{entry.label}</span>
      {isSubmenu && <IconChevronRight size={ICON_SIZE} stroke={1.75} aria-hidden />}
      {!isSubmenu && entry.isChecked === true && <IconCheck size={ICON_SIZE} stroke={1.75} aria-hidden />}
      {!isSubmenu && entry.keys !== undefined && <kbd aria-hidden>{entry.keys}</kbd>}
    </button>
  );
}

const itemsOf = (menu: HTMLElement | null): HTMLElement[] => [
  ...(menu?.querySelectorAll<HTMLElement>("[role^=menuitem]") ?? []),
];

function useClicksOutside(onOutside: () => void): void {
  const latest = useRef(onOutside);
  latest.current = onOutside;
  useEffect(() => {
    const onPointerDown = ({ target }: PointerEvent): void => {
      if (!(target instanceof Element) || target.closest("[role=menu]") === null) latest.current();
    };
    document.addEventListener("pointerdown", onPointerDown, true);
    return () => document.removeEventListener("pointerdown", onPointerDown, true);
  }, []);
}
