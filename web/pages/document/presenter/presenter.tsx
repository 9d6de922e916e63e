import { useCreateBlockNote } from "@blocknote/react";
import { IconChevronLeft, IconChevronRight, IconX } from "@tabler/icons-react";
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import type { Document } from "../../../api/documents.ts";
import { IconButton } from "../../../components/icon-button.tsx";
import { styleNonce } from "../../../nonce.ts";
import { BlockNoteView } from "../block-note-view.tsx";
import { loadedUrl } from "../blocks/attachments.ts";
import { type BlockEditor, documentSchema, type EditorBlock } from "../document-schema.ts";
import classes from "./presenter.module.css";
import { slidesOf } from "./slides.ts";

const ICON_SIZE = 20;

interface Props {
  readonly document: Document;
  readonly editor: BlockEditor;
  readonly onClose: () => void;
}

/** The document as slides over the whole screen: arrows, Space, Page up and down, Home and End; Escape ends it. */
export function Presenter({ document: shown, editor, onClose }: Props): ReactNode {
  const { t } = useTranslation();
  const [slides] = useState(() => slidesOf(editor.document));
  const [index, setIndex] = useState(0);
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const element = dialog.current;
    element?.showModal();
    // A browser may refuse it: the slides then fill the window.
    element?.requestFullscreen?.().catch(() => undefined);
    return () => {
      if (document.fullscreenElement !== null) void document.exitFullscreen();
    };
  }, []);
  useEffect(() => {
    let wasFullscreen = false;
    const onChange = (): void => {
      if (wasFullscreen && document.fullscreenElement === null) onClose();
      wasFullscreen = document.fullscreenElement !== null;
    };
    document.addEventListener("fullscreenchange", onChange);
    return () => document.removeEventListener("fullscreenchange", onChange);
  }, [onClose]);
  const go = (to: number): void => setIndex(Math.max(0, Math.min(to, slides.length - 1)));
  useEffect(() => {
    // The text of the last slide, which is gone, may have had the focus.
    if (index >= 0) dialog.current?.focus();
  }, [index]);
  const onKeyDown = (event: KeyboardEvent): void => {
    const to = {
      ArrowRight: index + 1,
      ArrowDown: index + 1,
      PageDown: index + 1,
      " ": index + 1,
      ArrowLeft: index - 1,
      ArrowUp: index - 1,
      PageUp: index - 1,
      Home: 0,
      End: slides.length - 1,
    }[event.key];
    if (to === undefined || (event.key === " " && event.target instanceof HTMLButtonElement)) return;
    event.preventDefault();
    go(to);
  };
  const place = t("presenter.slide", { number: index + 1, count: slides.length });
  return (
    <dialog
      ref={dialog}
      tabIndex={-1}
      className={classes.presenter}
      aria-label={t("presenter.title", { title: shown.title ?? t("app.untitled") })}
      onClose={onClose}
      onKeyDown={onKeyDown}
    >
      <div className={classes.slide}>
        {index === 0 && <h1 dir="auto">{shown.title ?? t("app.untitled")}</h1>}
        <Slide key={index} id={shown.id} blocks={slides[index] ?? []} />
      </div>
      <footer className={classes.controls}>
        <p role="status">{place}</p>
        <IconButton
          size="lg"
          aria-label={t("presenter.previous")}
          disabled={index === 0}
          onClick={() => go(index - 1)}
        >
          <IconChevronLeft size={ICON_SIZE} stroke={1.75} aria-hidden />
        </IconButton>
        <IconButton
          size="lg"
          aria-label={t("presenter.next")}
          disabled={index === slides.length - 1}
          onClick={() => go(index + 1)}
        >
          <IconChevronRight size={ICON_SIZE} stroke={1.75} aria-hidden />
        </IconButton>
        <IconButton size="lg" aria-label={t("presenter.end")} onClick={onClose}>
          <IconX size={ICON_SIZE} stroke={1.75} aria-hidden />
        </IconButton>
      </footer>
    </dialog>
  );
}

interface SlideProps {
  readonly id: string;
  readonly blocks: readonly EditorBlock[];
}

function Slide({ id, blocks }: SlideProps): ReactNode {
  const { t } = useTranslation();
  const editor = useCreateBlockNote({
    schema: documentSchema,
    initialContent: blocks.length === 0 ? undefined : [...blocks],
    trailingBlock: false,
    domAttributes: { editor: { "aria-label": t("presenter.content") } },
    resolveFileUrl: async (url) => loadedUrl(id, url),
    _tiptapOptions: { injectNonce: styleNonce() },
  });
  return (
    <div data-editor>
      <BlockNoteView editor={editor} canEdit={false} />
    </div>
  );
}
