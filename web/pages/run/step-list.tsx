import type { Virtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useMemo } from "react";
import { useQueryParameters } from "../../components/query-parameters.ts";
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
  readonly className: string | undefined;
  readonly steps: readonly TimelineStep[];
  /** Key of the step whose panel is open. */
  readonly current: string | undefined;
  readonly virtual: Virtualizer<HTMLDivElement, Element>;
  readonly children: (row: StepRowProps) => ReactNode;
}

/** The rows of the steps in sight, at their places. */
export function StepList({ label, className, steps, current, virtual, children }: Props): ReactNode {
  const [, hrefWith] = useQueryParameters();
  const depths = useMemo(() => depthsOf(steps), [steps]);
  // The addresses differ in one parameter only, and the rows change with each frame while the list is scrolled.
  const closed = hrefWith({ step: undefined, panel: undefined, tab: undefined });
  const opened = `${closed}${closed.includes("?") ? "&" : "?"}step=`;
  return (
    <ol className={className} aria-label={label} style={{ height: virtual.getTotalSize() }}>
      {virtual.getVirtualItems().map(({ index, start }) => {
        const step = steps[index];
        if (step === undefined) return null;
        const { key } = step;
        return (
          <li
            key={key}
            aria-setsize={steps.length}
            aria-posinset={index + 1}
            style={{ transform: `translateY(${start}px)` }}
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
  );
}
