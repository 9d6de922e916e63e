import { IconChevronRight, IconDots, IconPlus } from "@tabler/icons-react";
import type { CSSProperties, ReactNode } from "react";
import { Link } from "wouter";
import { useCreateChild } from "../api/document-changes.ts";
import { documentPath } from "../api/documents.ts";
import { DocumentMenu } from "../document-menu/load-document-menu.tsx";
import { useTranslation } from "../i18n/use-translation.ts";
import type { DropZone } from "./drag-and-drop.ts";
import classes from "./tree.module.css";
import type { DocumentTreeRow } from "./tree-rows.ts";

const ICON_SIZE = 16;

interface Props {
  readonly row: DocumentTreeRow;
  readonly id: string;
  /** Distance from the top of the tree, pixels. */
  readonly top: number;
  readonly isActive: boolean;
  readonly isCurrent: boolean;
  readonly drop: DropZone | undefined;
  readonly isMenuOpen: boolean;
  readonly moveBy: { readonly up?: (() => void) | undefined; readonly down?: (() => void) | undefined };
  readonly onToggle: () => void;
  readonly onMenuChange: (isOpen: boolean) => void;
}

/** A document in the tree. Its controls are for the pointer: by keyboard, the tree and the menu do the same. */
export function TreeRowView(props: Props): ReactNode {
  const { row, isActive, isCurrent, isMenuOpen, onToggle, onMenuChange } = props;
  const { document } = row;
  const { t } = useTranslation();
  const createChild = useCreateChild(document.id);
  const title = document.title ?? t("app.untitled");
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the tree has the focus, and names its active item
    <div
      role="treeitem"
      id={props.id}
      data-row={document.id}
      data-active={isActive || undefined}
      data-drop={props.drop}
      className={classes.row}
      style={{ top: props.top, "--level": row.level } as CSSProperties}
      draggable={document.abilities.move}
      aria-level={row.level}
      aria-posinset={row.position}
      aria-setsize={row.siblings}
      aria-expanded={row.isExpanded}
      aria-selected={isCurrent}
      aria-current={isCurrent ? "page" : undefined}
      aria-label={title}
    >
      {row.isExpanded === undefined ? (
        <span className={classes.toggle} />
      ) : (
        <button type="button" tabIndex={-1} aria-hidden className={classes.toggle} onClick={onToggle}>
          <IconChevronRight size={14} />
        </button>
      )}
      <Link
        href={documentPath(document)}
        tabIndex={-1}
        draggable={false}
        className={classes.title}
        dir="auto"
        title={title}
      >
        {title}
      </Link>
      <DocumentMenu
        document={document}
        isListed
        isOpen={isMenuOpen}
        onOpenChange={onMenuChange}
        moveBy={props.moveBy}
      >
        <button
          type="button"
          tabIndex={-1}
          className={classes.action}
          aria-label={t("tree.actions", { title })}
          aria-haspopup="menu"
          aria-expanded={isMenuOpen}
          onClick={() => onMenuChange(!isMenuOpen)}
        >
          <IconDots size={ICON_SIZE} aria-hidden />
        </button>
      </DocumentMenu>
      {document.abilities.children_create && (
        <button
          type="button"
          tabIndex={-1}
          className={classes.action}
          aria-label={t("tree.add", { title })}
          onClick={() => createChild.mutate()}
        >
          <IconPlus size={ICON_SIZE} aria-hidden />
        </button>
      )}
    </div>
  );
}
