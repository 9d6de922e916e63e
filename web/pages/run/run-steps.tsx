import { memo, type ReactNode } from "react";
import { Link } from "wouter";
import { EmptyState } from "../../components/empty-state.tsx";
import { State } from "../../components/state.tsx";
import { formatDuration, Time } from "../../components/time.tsx";
import { useTranslation } from "../../i18n/use-translation.ts";
import { gradientOf } from "./item-states.ts";
import classes from "./run.module.css";
import { StepList, type StepRowProps } from "./step-list.tsx";
import { durationOfStep, stateOfStep, type TimelineStep } from "./timeline-data.ts";

const ROW_HEIGHT = 36;
const OVERSCAN = 20;
const STRIP_PARTS = 40;

interface Props {
  readonly steps: readonly TimelineStep[];
  /** Key of the step whose panel is open. */
  readonly current: string | undefined;
}

/** The steps of a run in their order, as a list. Only the rows in sight are drawn. */
export function RunSteps({ steps, current }: Props): ReactNode {
  const { t } = useTranslation();
  if (steps.length === 0) return <EmptyState text={t("run.no_steps")} />;
  return (
    <StepList
      label={t("runs.steps")}
      classNames={[classes.scroll, classes.steps]}
      steps={steps}
      current={current}
      rowHeight={ROW_HEIGHT}
      overscan={OVERSCAN}
    >
      {(row) => <StepRow {...row} />}
    </StepList>
  );
}

const StepRow = memo(function StepRow({ step, depth, isCurrent, href }: StepRowProps): ReactNode {
  const { t, i18n } = useTranslation();
  const { items, attempts } = step;
  return (
    <Link
      href={href}
      id={`step-${step.key}`}
      data-row
      className={classes.step}
      aria-current={isCurrent ? "true" : undefined}
    >
      <span className={classes.name} style={{ paddingInlineStart: depth * 16 }} dir="auto">
        {step.key}
      </span>
      <span className={classes.muted}>{step.step_type}</span>
      <span className={classes.muted}>
        {items === null
          ? attempts.length > 1 && t("run.attempt", { count: attempts.length })
          : t("step.items_of", { done: items.completed + items.failed, total: items.total })}
        {items !== null && (
          <span className={classes.strip} style={{ backgroundImage: gradientOf(items, STRIP_PARTS) }} />
        )}
      </span>
      <State name={stateOfStep(step)} />
      <span className={classes.muted}>
        {step.taken_over ? t("step.taken_over") : <Time value={step.started_at} />}
      </span>
      <span className={classes.duration}>
        {step.completed_at === null || step.taken_over
          ? ""
          : formatDuration(durationOfStep(step, 0), i18n.language)}
      </span>
    </Link>
  );
});
