import { type CSSProperties, type ReactNode, useEffect } from "react";
import { useTranslation } from "../i18n/use-translation.ts";
import classes from "./tree.module.css";
import type { MoreTreeRow } from "./tree-rows.ts";

interface Props {
  readonly row: MoreTreeRow;
  readonly id: string;
  readonly top: number;
  readonly isActive: boolean;
  readonly onMore: () => void;
}

/** The end of what is loaded of a level. The next documents are loaded when it comes into view. */
export function MoreRow({ row, id, top, isActive, onMore }: Props): ReactNode {
  const { t } = useTranslation();
  const { count, level } = row;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each number that is left
  useEffect(() => {
    if (count > 0) onMore();
  }, [count]);
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the tree has the focus, and names its active item
    // biome-ignore lint/a11y/useKeyWithClickEvents: Enter is handled by the tree
    <div
      role="treeitem"
      id={id}
      aria-level={level}
      aria-selected={false}
      data-active={isActive || undefined}
      className={`${classes.row} ${classes.more}`}
      style={{ top, "--level": level } as CSSProperties}
      onClick={onMore}
    >
      <span className={classes.toggle} />
      <span className={classes.title}>{count === 0 ? t("tree.loading") : t("tree.more", { count })}</span>
    </div>
  );
}
