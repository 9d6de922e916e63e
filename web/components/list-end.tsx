import { type ReactNode, useEffect, useRef } from "react";
import { useTranslation } from "../i18n/use-translation.ts";
import { Button } from "./button.tsx";
import classes from "./page.module.css";

/** How far below the window the next records are loaded. */
const AHEAD = "600px";

interface Props {
  readonly hasMore: boolean;
  readonly isLoading: boolean;
  readonly onMore: () => void;
  /** How many records are shown. */
  readonly children: ReactNode;
}

/** The end of a list that loads more records when it is scrolled near, or by its button. */
export function ListEnd({ hasMore, isLoading, onMore, children }: Props): ReactNode {
  const { t } = useTranslation();
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (end.current === null || !hasMore || isLoading) return;
    const observer = new IntersectionObserver(
      ([entry]) => {
        if (entry?.isIntersecting === true) onMore();
      },
      { rootMargin: AHEAD },
    );
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [hasMore, isLoading, onMore]);
  return (
    <div ref={end} className={classes.count}>
      {children}
      {hasMore && (
        <Button variant="subtle" size="compact-sm" loading={isLoading} onClick={onMore}>
          {t("app.more")}
        </Button>
      )}
    </div>
  );
}
