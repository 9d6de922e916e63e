import { useMediaQuery } from "@mantine/hooks";
import { IconHistory, IconList, IconMessage, IconX } from "@tabler/icons-react";
import { memo, type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { useLocation } from "wouter";
import type * as Y from "yjs";
import type { Document } from "../../api/documents.ts";
import { IconButton } from "../../components/icon-button.tsx";
import { later } from "../../components/later.tsx";
import { useQueryParameters } from "../../components/query-parameters.ts";
import { useTranslation } from "../../i18n/use-translation.ts";
import { bodyOf, type Mentions } from "./comments/comment-body.ts";
import { createThread, useThreads } from "./comments/threads.ts";
import { MARK, useAnchors, useHighlights } from "./comments/use-anchors.ts";
import classes from "./document.module.css";
import type { DocumentEditor } from "./editor.tsx";

const ICON_SIZE = 18;
const QUOTE_MAX_LENGTH = 200;
/** Where the panel is beside the text, and not above it. */
const BESIDE_TEXT = "(min-width: 1100px)";

const CommentsPanel = later(async () => (await import("./comments/comments-panel.tsx")).CommentsPanel);
const HistoryPanel = later(async () => (await import("./history/history-panel.tsx")).HistoryPanel);

const OutlinePanel = later(async () => (await import("./outline/outline-panel.tsx")).OutlinePanel);

const PANELS = ["outline", "comments", "history"] as const;
const ICONS = { outline: IconList, comments: IconMessage, history: IconHistory };
type PanelName = (typeof PANELS)[number];

export interface Panel {
  /** The open panel, by the address. */
  readonly name: PanelName | undefined;
  /** Whether the user has begun a comment about the selection. */
  readonly isWriting: boolean;
  readonly open: (name: PanelName, thread?: string) => void;
  readonly startComment: () => void;
  readonly close: () => void;
}

/** Which panel is beside the text. */
export function usePanel(): Panel {
  const [parameters, hrefWith] = useQueryParameters();
  const [, navigate] = useLocation();
  const [isWriting, setWriting] = useState(false);
  const name = PANELS.find((one) => one === parameters.get("panel"));
  const show = (panel: PanelName | undefined, thread?: string): void =>
    navigate(hrefWith({ panel, thread, version: undefined, threads: undefined }));
  // The editor keeps the function that it was created with.
  const latest = useRef(show);
  latest.current = show;
  return useMemo(
    () => ({
      name,
      isWriting,
      open: (panel, thread) => {
        setWriting(false);
        latest.current(panel, thread);
      },
      startComment: () => {
        setWriting(true);
        latest.current("comments");
      },
      close: () => {
        setWriting(false);
        latest.current(undefined);
      },
    }),
    [name, isWriting],
  );
}

const isAllowed = (name: PanelName, { comment, versions_list }: Document["abilities"]): boolean =>
  ({ outline: true, comments: comment, history: versions_list })[name];

interface ButtonsProps {
  readonly document: Document;
  readonly panel: Panel;
}

/** Buttons that open and close the panels. */
export const PanelButtons = memo(function PanelButtons({ document, panel }: ButtonsProps): ReactNode {
  const { t } = useTranslation();
  const { abilities } = document;
  const shown = PANELS.filter((name) => isAllowed(name, abilities));
  return shown.map((name) => {
    const Icon = ICONS[name];
    return (
      <IconButton
        key={name}
        id={`open-${name}`}
        size="lg"
        aria-label={t(`panel.${name}`)}
        aria-expanded={panel.name === name}
        onClick={() => (panel.name === name ? panel.close() : panel.open(name))}
      >
        <Icon size={ICON_SIZE} stroke={1.75} aria-hidden />
      </IconButton>
    );
  });
});

interface Props {
  readonly document: Document;
  readonly content: Y.Doc;
  readonly editor: DocumentEditor | undefined;
  /** Whether the user may mark the text that a comment is about. */
  readonly canMark: boolean;
  readonly panel: Panel;
}

/** The open panel, and the highlights of commented text. */
export const DocumentPanel = memo(function DocumentPanel({
  document,
  content,
  editor,
  canMark,
  panel,
}: Props): ReactNode {
  const { t } = useTranslation();
  const { id, abilities } = document;
  const [parameters] = useQueryParameters();
  const threads = useThreads(id, abilities.comment).data ?? [];
  const anchors = useAnchors(id, content, threads);
  useHighlights(threads, parameters.get("thread") ?? undefined);
  useClicksOnMarks(panel, abilities.comment);
  const quote = useQuote(editor, panel.name === "comments");
  const isBeside = useMediaQuery(BESIDE_TEXT, false, { getInitialValueInEffect: false }) === true;
  const heading = useRef<HTMLHeadingElement>(null);
  const { name, isWriting } = panel;
  // A click into commented text leaves the cursor there.
  const isAsked = name !== undefined && !isWriting && !parameters.has("thread");
  useEffect(() => {
    if (isAsked) heading.current?.focus({ preventScroll: true });
  }, [isAsked]);
  if (name === undefined || !isAllowed(name, abilities)) return null;
  const close = (): void => {
    panel.close();
    window.document.getElementById(`open-${name}`)?.focus();
  };
  const create = async (text: string, mentions: Mentions): Promise<void> => {
    // Without the right to mark the text, the comment quotes it.
    const thread = await createThread(id, bodyOf(text, { quote: canMark ? "" : quote, mentions }));
    if (canMark) editor?.markSelection(thread.id);
    editor?.endComment();
  };
  return (
    <aside
      className={classes.panel}
      aria-label={t(`panel.${name}`)}
      data-aligned={isBeside && name === "comments"}
      onKeyDown={(event) => {
        if (event.key === "Escape" && !event.defaultPrevented) close();
      }}
    >
      <header>
        <h2 ref={heading} tabIndex={-1}>
          {t(`panel.${name}`)}
        </h2>
        <IconButton size="lg" aria-label={t("app.close")} onClick={close}>
          <IconX size={ICON_SIZE} stroke={1.75} aria-hidden />
        </IconButton>
      </header>
      {name === "outline" && editor !== undefined && <OutlinePanel editor={editor.blocks} />}
      {name === "history" && <HistoryPanel id={id} />}
      {name === "comments" && (
        <CommentsPanel
          id={id}
          canViewAccesses={abilities.accesses_view}
          threads={threads}
          anchors={anchors}
          quote={quote}
          isWriting={panel.isWriting}
          isAligned={isBeside}
          onCreate={create}
        />
      )}
    </aside>
  );
});

/** A click on commented text opens its thread. */
function useClicksOnMarks({ open }: Panel, isEnabled: boolean): void {
  const latest = useRef(open);
  latest.current = open;
  useEffect(() => {
    if (!isEnabled) return;
    const onClick = ({ target }: MouseEvent): void => {
      const mark = target instanceof Element ? target.closest<HTMLElement>(MARK) : null;
      if (mark?.dataset.bnThreadId !== undefined) latest.current("comments", mark.dataset.bnThreadId);
    };
    window.document.addEventListener("click", onClick);
    return () => window.document.removeEventListener("click", onClick);
  }, [isEnabled]);
}

/** The selected text, which a new comment is about. */
function useQuote(editor: DocumentEditor | undefined, isNeeded: boolean): string {
  const [quote, setQuote] = useState("");
  useEffect(() => {
    if (editor === undefined || !isNeeded) return;
    const read = (): void => setQuote(editor.selectedText().slice(0, QUOTE_MAX_LENGTH));
    read();
    const stop = editor.onSelectionChange(read);
    return () => {
      stop();
      editor.endComment();
    };
  }, [editor, isNeeded]);
  return quote;
}
