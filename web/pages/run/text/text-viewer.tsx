import { useDebouncedValue } from "@mantine/hooks";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { Button } from "../../../components/button.tsx";
import { copyText } from "../../../components/copy-text.ts";
import { ErrorState, messageOf } from "../../../components/error-state.tsx";
import { showToast } from "../../../components/toasts.tsx";
import { useTranslation } from "../../../i18n/use-translation.ts";
import classes from "./text.module.css";
import { TextLine } from "./text-line.tsx";
import { findRows, type TextRow } from "./text-rows.ts";
import { readParts, type TextSource, useText } from "./use-text.ts";

const ROW_HEIGHT = 18;
const OVERSCAN = 30;
const SEARCH_MS = 150;
/** How near to its end a text is scrolled when it is followed, pixels. */
const NEAR_END = 24;
const STORAGE_KEY = "weft.wrap";

interface Props {
  readonly label: string;
  /** Must not change while the text is the same. */
  readonly source: TextSource;
  /** Name of the downloaded file. */
  readonly fileName: string;
  /** What is shown instead of a text without lines. */
  readonly empty: string;
  /** Which rows are shown; undefined for all. */
  readonly filter?: (row: TextRow) => boolean;
}

/** A text of any length: only the rows in sight are drawn. It is followed while its end is in sight. */
export function TextViewer({ label, source, fileName, empty, filter }: Props): ReactNode {
  const { t, i18n } = useTranslation();
  const { text, error, retry, loadEarlier } = useText(source);
  const scroll = useRef<HTMLDivElement>(null);
  const [isWrapped, setWrapped] = useState(() => localStorage.getItem(STORAGE_KEY) !== "false");
  const [isFollowing, setFollowing] = useState(true);
  const [query, setQuery] = useState("");
  const [search] = useDebouncedValue(query, SEARCH_MS);
  const rows = useMemo(
    () => (filter === undefined ? (text?.rows ?? []) : (text?.rows.filter(filter) ?? [])),
    [text, filter],
  );
  const found = useMemo(() => findRows(rows, search), [rows, search]);
  const [position, setPosition] = useState(0);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: OVERSCAN,
  });
  const goTo = (next: number): void => {
    if (found.length === 0) return;
    const index = (next + found.length) % found.length;
    setPosition(index);
    setFollowing(false);
    virtual.scrollToIndex(found[index] ?? 0, { align: "center" });
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new search begins at its first match
  useEffect(() => {
    setPosition(0);
    if (found[0] !== undefined && search !== "") {
      setFollowing(false);
      virtual.scrollToIndex(found[0], { align: "center" });
    }
  }, [search]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: new rows are followed
  useEffect(() => {
    if (isFollowing && rows.length > 0) virtual.scrollToIndex(rows.length - 1, { align: "end" });
  }, [rows.length, isFollowing, isWrapped]);
  if (error !== undefined && text === undefined) return <ErrorState error={error} onRetry={retry} />;
  const onScroll = (): void => {
    const { current } = scroll;
    if (current === null) return;
    const isNearEnd = current.scrollHeight - current.scrollTop - current.clientHeight < NEAR_END;
    if (isNearEnd !== isFollowing) setFollowing(isNearEnd);
  };
  const onSearchKey = (event: KeyboardEvent): void => {
    if (event.key === "Enter") goTo(position + (event.shiftKey ? -1 : 1));
    else if (event.key === "Escape" && query !== "") {
      event.preventDefault();
      setQuery("");
    }
  };
  const onEarlier = async (): Promise<void> => {
    const added = (await loadEarlier?.()) ?? 0;
    setFollowing(false);
    virtual.scrollToIndex(added, { align: "start" });
  };
  const withParts = (use: (parts: string[]) => void | Promise<void>) => (): void => {
    readParts(source)
      .then(use)
      .catch((failure: unknown) => showToast(`${t("error.action")}: ${messageOf(failure, t)}`));
  };
  return (
    <section className={classes.viewer} aria-label={label}>
      <div className={classes.bar}>
        <input
          type="search"
          className={classes.search}
          aria-label={t("text.search", { label })}
          placeholder={t("text.search_short")}
          value={query}
          onChange={({ currentTarget }) => setQuery(currentTarget.value)}
          onKeyDown={onSearchKey}
        />
        <span className={classes.count} role="status">
          {search !== "" &&
            t("text.found", { position: found.length === 0 ? 0 : position + 1, count: found.length })}
        </span>
        <Button
          variant="subtle"
          size="compact-sm"
          aria-pressed={isWrapped}
          onClick={() => {
            localStorage.setItem(STORAGE_KEY, String(!isWrapped));
            setWrapped(!isWrapped);
          }}
        >
          {t("text.wrap")}
        </Button>
        <Button
          variant="subtle"
          size="compact-sm"
          onClick={withParts(async (parts) => {
            const isCopied = await copyText(parts.join(""));
            showToast(t(isCopied ? "text.copied" : "copy.refused"));
          })}
        >
          {t("text.copy")}
        </Button>
        <Button variant="subtle" size="compact-sm" onClick={withParts((parts) => saveFile(parts, fileName))}>
          {t("text.download")}
        </Button>
      </div>
      <div
        ref={scroll}
        className={classes.scroll}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard
        tabIndex={0}
        role="log"
        aria-label={label}
        aria-live="off"
        onScroll={onScroll}
      >
        {loadEarlier !== undefined && (
          <Button variant="subtle" size="compact-sm" onClick={() => void onEarlier()}>
            {t("text.earlier")}
          </Button>
        )}
        {text !== undefined && rows.length === 0 && <p className={classes.empty}>{empty}</p>}
        <div
          className={classes.rows}
          data-wrap={isWrapped ? "" : undefined}
          style={{ height: virtual.getTotalSize() }}
        >
          {virtual.getVirtualItems().map(({ index, key, start }) => {
            const row = rows[index];
            if (row === undefined) return null;
            return (
              <div
                key={key}
                ref={virtual.measureElement}
                data-index={index}
                className={classes.row}
                dir="auto"
                data-current={found[position] === index ? "" : undefined}
                style={{ transform: `translateY(${start}px)` }}
              >
                <TextLine row={row} search={search} />
              </div>
            );
          })}
        </div>
      </div>
      <div className={classes.foot}>
        <span>
          {text !== undefined &&
            t("text.size", { size: new Intl.NumberFormat(i18n.language).format(text.size) })}
        </span>
        {source.follow !== undefined &&
          (isFollowing ? (
            <span>{t("text.following")}</span>
          ) : (
            <Button variant="subtle" size="compact-sm" onClick={() => setFollowing(true)}>
              {t("text.follow")}
            </Button>
          ))}
      </div>
    </section>
  );
}

/** Gives a text to the user as a file. */
function saveFile(parts: readonly string[], name: string): void {
  const url = URL.createObjectURL(new Blob([...parts], { type: "text/plain;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
