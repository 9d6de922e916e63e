import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useMemo, useRef } from "react";
import { useQueryParameters } from "../../components/query-parameters.ts";
import { useRowKeys } from "../../components/row-keys.ts";
import { depthsOf, type TimelineStep } from "./timeline-data.ts";

export interface StepRowProps {
  readonly step: TimelineStep;
  /** How many steps it is below. */
  readonly depth: number;
  /** Whether its panel is open. */
  readonly isCurrent: boolean;
  /** The address with its panel. */
  readonly href: string;
}

interface Props {
  readonly label: string;
  /** Of the element in which the list is scrolled, and of the list. */
  readonly classNames: readonly [scroll: string | undefined, list: string | undefined];
  /** What is above the rows, and scrolled with them. */
  readonly head?: ReactNode;
  readonly steps: readonly TimelineStep[];
  /** Key of the step whose panel is open. */
  readonly current: string | undefined;
  /** Pixels. */
  readonly rowHeight: number;
  /** Number of rows that are rendered before and after those in sight. */
  readonly overscan: number;
  readonly children: (row: StepRowProps) => ReactNode;
}

/** The rows of the steps in sight, at their places. Scrolling renders only this list again. */
export function StepList({
  label,
  classNames: [scrollClass, listClass],
  head,
  steps,
  current,
  rowHeight,
  overscan,
  children,
}: Props): ReactNode {
  const [, hrefWith] = useQueryParameters();
  const scroll = useRef<HTMLDivElement>(null);
  useRowKeys(scroll);
  const virtual = useVirtualizer({
    count: steps.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => rowHeight,
    overscan,
  });
  const depths = useMemo(() => depthsOf(steps), [steps]);
  // The addresses differ in one parameter only.
  const closed = hrefWith({ step: undefined, panel: undefined, tab: undefined });
  const opened = `${closed}${closed.includes("?") ? "&" : "?"}step=`;
  return (
    <div ref={scroll} className={scrollClass}>
      {head}
      <ol className={listClass} aria-label={label} style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, start }) => {
          const step = steps[index];
          if (step === undefined) return null;
          const { key } = step;
          return (
            <li
              key={key}
              aria-setsize={steps.length}
              aria-posinset={index + 1}
              style={{ insetBlockStart: start }}
            >
              {children({
                step,
                depth: depths.get(key) ?? 0,
                isCurrent: key === current,
                href: opened + encodeURIComponent(key),
              })}
            </li>
          );
        })}
      </ol>
    </div>
  );
}
