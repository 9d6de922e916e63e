import { useMediaQuery } from "@mantine/hooks";
import {
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { Link, useLocation } from "wouter";
import { documentIdOf, documentPath } from "../api/documents.ts";
import { useMove } from "../document-menu/use-move.tsx";
import { useTranslation } from "../i18n/use-translation.ts";
import { useImport } from "../transfer/use-import.ts";
import { MoreRow } from "./more-row.tsx";
import classes from "./tree.module.css";
import { useFavorites, useLevels, usePath } from "./tree-data.ts";
import { actionOfKey, rowByTypedText, type TreeAction } from "./tree-keys.ts";
import { neighborsOf, placeBeside } from "./tree-places.ts";
import { TreeRowView } from "./tree-row.tsx";
import { keyOfRow, rowsOfTree, TOP, type TreeRow } from "./tree-rows.ts";
import { useDrop } from "./use-drop.ts";
import { useExpanded } from "./use-expanded.ts";
import { useVisibleRows } from "./visible-rows.ts";

const ROW_HEIGHT = 30;
const TOUCH_ROW_HEIGHT = 40;
/** Time between letters that belong together, milliseconds. */
const TYPING_MS = 800;
/** Time for the key that opens a menu to have its effect, milliseconds. */
const MENU_MS = 50;
const LETTER = /^[\p{L}\p{N}]$/u;

/** Documents by where they are, below the favorites. */
export function DocumentTree(): ReactNode {
  const { t } = useTranslation();
  const [address, navigate] = useLocation();
  const currentId = documentIdOf(address.replace(/^\/d\//, ""));
  const path = usePath(currentId);
  const expanded = useExpanded(path);
  const levels = useLevels(expanded.loaded);
  const rows = rowsOfTree(levels, expanded.has, path);
  const [active, setActive] = useState("");
  const [menuOf, setMenuOf] = useState<string>();
  const { move, dialog } = useMove();
  const { start } = useImport();
  const tree = useRef<HTMLDivElement>(null);
  const typed = useRef({ text: "", at: 0 });
  const prefix = useId();
  const isSmall = useMediaQuery("(max-width: 767px)") ?? false;
  const height = isSmall ? TOUCH_ROW_HEIGHT : ROW_HEIGHT;
  const visible = useVisibleRows(tree, rows.length, height);
  const drop = useDrop(tree, rows, {
    onMove: (id, to) => move({ id, to, from: placeBeside(rows, id) }),
    onExpand: expanded.expand,
    onFiles: start,
  });
  const activeKey = rows.some((row) => keyOfRow(row) === active) ? active : (currentId ?? firstKey(rows));
  const titleOf = (row: TreeRow): string =>
    row.kind === "document" ? (row.document.title ?? t("app.untitled")) : "";

  const show = (key: string): void => {
    setActive(key);
    const at = rows.findIndex((row) => keyOfRow(row) === key);
    scrollToRow(tree.current, at, height);
  };
  const isCurrentShown = rows.some((row) => keyOfRow(row) === currentId);
  // Once, when the open document is in the tree: afterwards the user scrolls.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the rows change all the time
  useEffect(() => {
    if (currentId !== undefined && isCurrentShown) show(currentId);
  }, [currentId, isCurrentShown]);

  useAnchor(
    tree,
    rows.findIndex((row) => keyOfRow(row) === activeKey),
    height,
  );

  const moveRow = (row: TreeRow, by: -1 | 1): (() => void) | undefined => {
    const to = neighborsOf(rows, row)?.[by === -1 ? "up" : "down"];
    if (to === undefined || row.kind === "more") return undefined;
    return () => move({ id: row.document.id, to, from: placeBeside(rows, row.document.id) });
  };
  const run = (action: TreeAction): void => {
    if (action.type === "focus") show(action.key);
    else if (action.type === "expand") expanded.expand(action.id);
    else if (action.type === "collapse") expanded.collapse(action.id);
    else if (action.type === "move") moveRow(action.row, action.by)?.();
    else if (action.row.kind === "more") expanded.loadMore(action.row.parent);
    else if (action.type === "open") navigate(documentPath(action.row.document));
    else openMenu(action.row.document.id);
  };
  // After the key, whose own effect would close the menu at once.
  const openMenu = (id: string): void => void setTimeout(() => setMenuOf(id), MENU_MS);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.target !== tree.current || event.ctrlKey || event.metaKey) return;
    const action = actionOfKey(rows, activeKey, event);
    if (action !== undefined) {
      event.preventDefault();
      run(action);
    } else if (LETTER.test(event.key) && !event.altKey) {
      // Letters look for titles here, and are no shortcuts.
      event.nativeEvent.stopImmediatePropagation();
      const isContinued = event.timeStamp - typed.current.at < TYPING_MS;
      typed.current = { text: (isContinued ? typed.current.text : "") + event.key, at: event.timeStamp };
      const found = rowByTypedText(rows, activeKey, typed.current.text, titleOf);
      if (found !== undefined) show(keyOfRow(found));
    }
  };

  const shown = rows.slice(visible.first, visible.end);
  const idOf = (key: string): string => `${prefix}${key}`;
  return (
    <>
      <Favorites />
      <div
        ref={tree}
        role="tree"
        tabIndex={0}
        aria-label={t("tree.label")}
        aria-description={t("tree.hint")}
        aria-activedescendant={shown.some((row) => keyOfRow(row) === activeKey) ? idOf(activeKey) : undefined}
        className={classes.tree}
        style={{ height: rows.length * height }}
        onKeyDown={onKeyDown}
        {...drop.handlers}
      >
        {shown.map((row, index) => {
          const key = keyOfRow(row);
          const top = (visible.first + index) * height;
          if (row.kind === "more")
            return (
              <MoreRow
                key={key}
                row={row}
                id={idOf(key)}
                top={top}
                isActive={key === activeKey}
                onMore={() => expanded.loadMore(row.parent)}
              />
            );
          return (
            <TreeRowView
              key={key}
              row={row}
              id={idOf(key)}
              top={top}
              isActive={key === activeKey}
              isCurrent={key === currentId}
              drop={drop.over?.id === key ? drop.over.zone : undefined}
              isMenuOpen={menuOf === key}
              moveBy={{ up: moveRow(row, -1), down: moveRow(row, 1) }}
              onToggle={() => (row.isExpanded === true ? expanded.collapse(key) : expanded.expand(key))}
              onMenuChange={(isOpen) => {
                setMenuOf(isOpen ? key : undefined);
                if (!isOpen) tree.current?.focus({ preventScroll: true });
              }}
            />
          );
        })}
      </div>
      {levels.get(TOP)?.isPending === false && rows.length === 0 && (
        <p className={classes.note}>{t("tree.empty")}</p>
      )}
      {drop.isDragging && (
        <div className={classes.top} data-drop={drop.isOverTop || undefined} {...drop.topHandlers}>
          {t("tree.to_top")}
        </div>
      )}
      {dialog}
    </>
  );
}

const firstKey = (rows: readonly TreeRow[]): string => (rows[0] === undefined ? "" : keyOfRow(rows[0]));

/** Keeps the active row where it is on the screen when rows appear or disappear above it. */
function useAnchor(tree: RefObject<HTMLElement | null>, at: number, height: number): void {
  const previous = useRef(at);
  useLayoutEffect(() => {
    const before = previous.current;
    previous.current = at;
    const scroller = tree.current?.closest<HTMLElement>("[data-scroller]");
    if (tree.current === null || scroller === null || scroller === undefined) return;
    if (before === at || before < 0 || at < 0) return;
    const top = tree.current.getBoundingClientRect().top - scroller.getBoundingClientRect().top;
    const wasVisible = top + (before + 1) * height > 0 && top + before * height < scroller.clientHeight;
    if (wasVisible) scroller.scrollTop += (at - before) * height;
  }, [tree, at, height]);
}

function scrollToRow(tree: HTMLElement | null, at: number, height: number): void {
  const scroller = tree?.closest<HTMLElement>("[data-scroller]");
  if (tree === null || scroller === null || scroller === undefined || at < 0) return;
  const top = tree.getBoundingClientRect().top - scroller.getBoundingClientRect().top + at * height;
  if (top < 0) scroller.scrollTop += top;
  else if (top + height > scroller.clientHeight) scroller.scrollTop += top + height - scroller.clientHeight;
}

function Favorites(): ReactNode {
  const { t } = useTranslation();
  const favorites = useFavorites();
  const id = useId();
  if (favorites.length === 0) return null;
  return (
    <div>
      <p id={id} className={classes.heading}>
        {t("tree.favorites")}
      </p>
      <ul aria-labelledby={id} className={classes.favorites}>
        {favorites.map((document) => (
          <li key={document.id}>
            <Link href={documentPath(document)} dir="auto">
              {document.title ?? t("app.untitled")}
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );
}
