import { type KeyboardEvent, type ReactNode, useEffect, useRef } from "react";
import { useTranslation } from "../../../i18n/use-translation.ts";
import type { EditorBlock } from "../document-schema.ts";
import classes from "./presenter.module.css";
import { summarize } from "./slides.ts";

interface Props {
  readonly slides: readonly (readonly EditorBlock[])[];
  /** Index of the slide that was shown, which gets the focus. */
  readonly shown: number;
  readonly onChoose: (index: number) => void;
}

/** All slides with the beginning of their texts. Arrow keys move between them, Enter shows one. */
export function SlideOverview({ slides, shown, onChoose }: Props): ReactNode {
  const { t } = useTranslation();
  const list = useRef<HTMLOListElement>(null);
  const buttons = (): HTMLButtonElement[] => [...(list.current?.querySelectorAll("button") ?? [])];
  // biome-ignore lint/correctness/useExhaustiveDependencies: the focus moves when the overview opens
  useEffect(() => buttons()[shown]?.focus(), []);
  const onKeyDown = (event: KeyboardEvent): void => {
    const all = buttons();
    const at = all.findIndex((button) => button === document.activeElement);
    const columns = all.filter((button) => button.offsetTop === all[0]?.offsetTop).length;
    const to = {
      ArrowRight: at + 1,
      ArrowLeft: at - 1,
      ArrowDown: at + columns,
      ArrowUp: at - columns,
      Home: 0,
      End: all.length - 1,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    all[to]?.focus();
  };
  return (
    <ol ref={list} className={classes.overview} aria-label={t("presenter.overview")} onKeyDown={onKeyDown}>
      {slides.map((slide, index) => {
        const { title, text } = summarize(slide);
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: slides are numbered
          <li key={index}>
            <button
              type="button"
              aria-current={index === shown ? "true" : undefined}
              onClick={() => onChoose(index)}
            >
              <span className={classes.number}>{index + 1}</span>
              <strong dir="auto">{title === "" ? t("presenter.no_text") : title}</strong>
              <span className={classes.text} dir="auto">
                {text}
              </span>
            </button>
          </li>
        );
      })}
    </ol>
  );
}
