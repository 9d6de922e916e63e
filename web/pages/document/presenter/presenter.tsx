import { IconChevronLeft, IconChevronRight, IconKeyboard, IconLayoutGrid, IconX } from "@tabler/icons-react";
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from "react";
import type { Document } from "../../../api/documents.ts";
import { IconButton } from "../../../components/icon-button.tsx";
import { useTranslation } from "../../../i18n/use-translation.ts";
import type { BlockEditor } from "../document-schema.ts";
import classes from "./presenter.module.css";
import { PresenterKeys } from "./presenter-keys.tsx";
import { Slide } from "./slide.tsx";
import { SlideOverview } from "./slide-overview.tsx";
import { slidesOf } from "./slides.ts";

const ICON_SIZE = 20;

interface Props {
  readonly document: Document;
  readonly editor: BlockEditor;
  /** The slide that is shown, from 1; the last one if there are fewer. */
  readonly number: number;
  readonly onShow: (number: number) => void;
  readonly onClose: () => void;
}

/** The document as slides over the whole screen, with an overview and a list of its keys instead of a slide. */
export function Presenter({ document: shown, editor, number, onShow, onClose }: Props): ReactNode {
  const { t } = useTranslation();
  const [slides, setSlides] = useState(() => slidesOf(editor.document));
  // An address that names a slide is opened before the editor has its text, and others may edit it meanwhile.
  useEffect(() => editor.onChange(() => setSlides(slidesOf(editor.document))), [editor]);
  const index = Math.max(0, Math.min(number, slides.length) - 1);
  const [view, setView] = useState<"slide" | "overview" | "keys">("slide");
  const dialog = useRef<HTMLDialogElement>(null);
  const latest = useRef({ view, onClose });
  latest.current = { view, onClose };
  useEffect(() => {
    const element = dialog.current;
    element?.showModal();
    // A browser may refuse it: the slides then fill the window.
    element?.requestFullscreen?.().catch(() => undefined);
    let wasFullscreen = false;
    const onChange = (): void => {
      const hasEnded = wasFullscreen && document.fullscreenElement === null;
      wasFullscreen = document.fullscreenElement !== null;
      // Escape ends the full screen before the page is told.
      if (hasEnded && latest.current.view === "slide") latest.current.onClose();
      else if (hasEnded) setView("slide");
    };
    document.addEventListener("fullscreenchange", onChange);
    return () => {
      document.removeEventListener("fullscreenchange", onChange);
      if (document.fullscreenElement !== null) void document.exitFullscreen();
    };
  }, []);
  useEffect(() => {
    // The text of the last slide, which is gone, may have had the focus.
    if (index >= 0 && view !== "overview") dialog.current?.focus();
  }, [index, view]);
  const go = (to: number): void => {
    const next = Math.max(0, Math.min(to, slides.length - 1));
    if (next !== index) onShow(next + 1);
  };
  const toggle = (name: "overview" | "keys"): void => setView(view === name ? "slide" : name);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const isOnButton = event.key === " " && event.target instanceof HTMLButtonElement;
    const action = {
      ...(view === "slide" && {
        ArrowRight: () => go(index + 1),
        ArrowDown: () => go(index + 1),
        PageDown: () => go(index + 1),
        " ": () => go(index + 1),
        ArrowLeft: () => go(index - 1),
        ArrowUp: () => go(index - 1),
        PageUp: () => go(index - 1),
        Home: () => go(0),
        End: () => go(slides.length - 1),
      }),
      o: () => toggle("overview"),
      "?": () => toggle("keys"),
    }[event.key];
    if (action === undefined || isOnButton) return;
    event.preventDefault();
    action();
  };
  return (
    <dialog
      ref={dialog}
      tabIndex={-1}
      className={classes.presenter}
      aria-label={t("presenter.title", { title: shown.title ?? t("app.untitled") })}
      onCancel={(event) => {
        if (view === "slide") return;
        event.preventDefault();
        setView("slide");
      }}
      onClose={onClose}
      onKeyDown={onKeyDown}
    >
      {view === "keys" && <PresenterKeys />}
      {view === "overview" && (
        <SlideOverview
          slides={slides}
          shown={index}
          onChoose={(chosen) => {
            setView("slide");
            go(chosen);
          }}
        />
      )}
      {view === "slide" && (
        <div className={classes.slide}>
          {index === 0 && <h1 dir="auto">{shown.title ?? t("app.untitled")}</h1>}
          <Slide
            key={`${index} ${JSON.stringify(slides[index])}`}
            id={shown.id}
            blocks={slides[index] ?? []}
          />
        </div>
      )}
      <footer className={classes.controls}>
        <p role="status">{t("presenter.slide", { number: index + 1, count: slides.length })}</p>
        <IconButton
          size="lg"
          aria-label={t("presenter.keys")}
          aria-pressed={view === "keys"}
          onClick={() => toggle("keys")}
        >
          <IconKeyboard size={ICON_SIZE} stroke={1.75} aria-hidden />
        </IconButton>
        <IconButton
          size="lg"
          aria-label={t("presenter.overview")}
          aria-pressed={view === "overview"}
          onClick={() => toggle("overview")}
        >
          <IconLayoutGrid size={ICON_SIZE} stroke={1.75} aria-hidden />
        </IconButton>
        <IconButton
          size="lg"
          aria-label={t("presenter.previous")}
          disabled={index === 0 || view !== "slide"}
          onClick={() => go(index - 1)}
        >
          <IconChevronLeft size={ICON_SIZE} stroke={1.75} aria-hidden />
        </IconButton>
        <IconButton
          size="lg"
          aria-label={t("presenter.next")}
          disabled={index === slides.length - 1 || view !== "slide"}
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
