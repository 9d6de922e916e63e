import type { ReactNode } from "react";
import { Link } from "wouter";
import { durationOf, type Run, stateOf } from "../../api/runs.ts";
import { State } from "../../components/state.tsx";
import { useTranslation } from "../../i18n/use-translation.ts";
import classes from "./workflows.module.css";

/** How many runs of a workflow the list shows. */
export const SHOWN_RUNS = 12;
const [WIDTH, HEIGHT, BAR, GAP, BAR_MIN] = [71, 20, 5, 1, 4];

interface LastRunsProps {
  /** Newest first. */
  readonly runs: readonly Run[];
}

/** The last runs as bars, the newest at the end: the height is the duration, relative to the longest one. */
export function LastRuns({ runs }: LastRunsProps): ReactNode {
  const { t } = useTranslation();
  if (runs.length === 0) return null;
  const now = Date.now();
  const durations = runs.map((run) => durationOf(run, now) ?? 0);
  const longest = Math.max(1, ...durations);
  const failed = runs.filter(({ status }) => status === "failed").length;
  return (
    <svg
      className={classes.runs}
      width={WIDTH}
      height={HEIGHT}
      role="img"
      aria-label={t("workflows.last_runs_label", { count: runs.length, failed })}
    >
      {runs.map((run, index) => {
        const height = Math.max(BAR_MIN, Math.round(((durations[index] ?? 0) / longest) * HEIGHT));
        return (
          <rect
            key={run.run_uuid}
            data-state={stateOf(run)}
            x={(runs.length - 1 - index) * (BAR + GAP)}
            y={HEIGHT - height}
            width={BAR}
            height={height}
          />
        );
      })}
    </svg>
  );
}

/** The state of the last run, which leads to it. */
export function LastState({ run }: { readonly run: Run | undefined }): ReactNode {
  const { t } = useTranslation();
  if (run === undefined) return <span className={classes.never}>{t("workflows.never_ran")}</span>;
  return (
    <Link href={`/runs/${run.run_uuid}`} className={classes.state}>
      <State name={stateOf(run)} />
    </Link>
  );
}
