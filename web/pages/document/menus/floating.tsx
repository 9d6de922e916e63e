import { type HTMLAttributes, type ReactNode, useLayoutEffect, useRef } from "react";
import { createPortal } from "react-dom";
import { useBlockEditor } from "../document-schema.ts";

/** Distance to what it belongs to, and to the edges of the window, pixels. */
const GAP = 6;
const EDGE = 8;
/** The least height for which a list does not move to the other side. */
const HEIGHT_MIN = 200;

interface Props extends HTMLAttributes<HTMLDivElement> {
  /** What it belongs to, in the window. */
  readonly rect: () => DOMRect | undefined;
  readonly side: "above" | "below" | "before" | "after";
  readonly children: ReactNode;
}

/** Something that floats next to a part of the text, and moves with it. It is not shown while that part is not. */
export function Floating(props: Props): ReactNode {
  const { portalElement } = useBlockEditor();
  return portalElement === undefined ? null : createPortal(<FloatingBox {...props} />, portalElement);
}

/** Something that floats next to something else of the page. */
export function FloatingBox({ rect, side, children, ...attributes }: Props): ReactNode {
  const box = useRef<HTMLDivElement>(null);
  const latest = useRef(rect);
  latest.current = rect;
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const place = (): void => placeBeside(element, latest.current(), side);
    place();
    const sizes = new ResizeObserver(place);
    sizes.observe(element);
    addEventListener("scroll", place, { capture: true, passive: true });
    addEventListener("resize", place);
    return () => {
      sizes.disconnect();
      removeEventListener("scroll", place, { capture: true });
      removeEventListener("resize", place);
    };
  });
  return (
    <div ref={box} data-floating {...attributes}>
      {children}
    </div>
  );
}

function placeBeside(element: HTMLElement, rect: DOMRect | undefined, side: Props["side"]): void {
  const { style } = element;
  if (rect === undefined) {
    style.visibility = "hidden";
    return;
  }
  style.visibility = "";
  style.setProperty("--room", "100vh");
  const { offsetWidth: width, offsetHeight: height } = element;
  if (side === "before") {
    style.left = `${Math.max(0, rect.left - width)}px`;
    style.top = `${rect.top}px`;
    return;
  }
  if (side === "after") {
    const isRoom = rect.right + width + EDGE <= innerWidth;
    style.left = `${Math.max(EDGE, isRoom ? rect.right : rect.left - width)}px`;
    style.top = `${Math.max(EDGE, Math.min(rect.top, innerHeight - height - EDGE))}px`;
    return;
  }
  const above = rect.top - GAP - EDGE;
  const below = innerHeight - rect.bottom - GAP - EDGE;
  const isAbove =
    side === "above"
      ? above >= height || above > below
      : below < height && above > below && below < HEIGHT_MIN;
  const room = Math.max(0, isAbove ? above : below);
  style.setProperty("--room", `${room}px`);
  style.left = `${Math.max(EDGE, Math.min(rect.left, innerWidth - width - EDGE))}px`;
  style.top = `${isAbove ? rect.top - GAP - Math.min(height, room) : rect.bottom + GAP}px`;
}
