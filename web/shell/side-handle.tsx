import { type KeyboardEvent, type PointerEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { useTranslation } from "../i18n/use-translation.ts";
import classes from "./side-handle.module.css";
import { SIDE_WIDTH_KEY, SIDE_WIDTH_PROPERTY } from "./side-width.ts";

const MIN = 200;
const MAX = 480;
const DEFAULT = 240;
const STEP = 16;

const within = (width: number): number => Math.round(Math.max(MIN, Math.min(MAX, width)));

const storedWidth = (): number =>
  within(Number.parseInt(localStorage.getItem(SIDE_WIDTH_KEY) ?? "", 10) || DEFAULT);

/** The line between the sidebar and the page: it is dragged or moved by keys, and a double click resets it. */
export function SideHandle(): ReactNode {
  const { t } = useTranslation();
  const handle = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(storedWidth);
  useEffect(() => {
    // Not by a property of the shell, which would be drawn again with each move.
    const shell = handle.current?.closest<HTMLElement>("[data-shell]");
    shell?.style.setProperty(SIDE_WIDTH_PROPERTY, `${width}px`);
    if (width === DEFAULT) localStorage.removeItem(SIDE_WIDTH_KEY);
    else localStorage.setItem(SIDE_WIDTH_KEY, `${width}px`);
  }, [width]);
  const onPointerMove = ({ currentTarget, pointerId, clientX }: PointerEvent<HTMLElement>): void => {
    // The sidebar begins at the edge of the window.
    if (currentTarget.hasPointerCapture(pointerId)) setWidth(within(clientX));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const next = { ArrowLeft: width - STEP, ArrowRight: width + STEP, Home: MIN, End: MAX }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    setWidth(within(next));
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a line between sections has no value
    <div
      ref={handle}
      role="separator"
      tabIndex={0}
      aria-label={t("tree.side_width")}
      aria-orientation="vertical"
      aria-valuemin={MIN}
      aria-valuemax={MAX}
      aria-valuenow={width}
      aria-valuetext={t("tree.side_pixels", { width })}
      title={t("tree.side_hint")}
      className={classes.handle}
      onPointerDown={({ currentTarget, pointerId, button }) => {
        if (button === 0) currentTarget.setPointerCapture(pointerId);
      }}
      onPointerMove={onPointerMove}
      onDoubleClick={() => setWidth(DEFAULT)}
      onKeyDown={onKeyDown}
    />
  );
}
