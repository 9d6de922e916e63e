import { memo, type ReactNode } from "react";
import type { Plan, PlannedStep } from "../../api/workflows.ts";
import { EmptyState } from "../../components/empty-state.tsx";
import { useTranslation } from "../../i18n/use-translation.ts";
import type { OutlineStep } from "./outline-steps.ts";
import classes from "./workflow.module.css";

interface Props {
  readonly steps: readonly OutlineStep[];
  /** The step of the cursor. */
  readonly current: OutlineStep | undefined;
  /** What a dry run said. */
  readonly plan: Plan | undefined;
  readonly onSelect: (step: OutlineStep) => void;
}

/** The steps in the order of a run; each leads to its line. */
export const StepList = memo(function StepList({ steps, current, plan, onSelect }: Props): ReactNode {
  const { t } = useTranslation();
  if (steps.length === 0) return <EmptyState text={t("workflow.no_steps")} />;
  const planned = new Map(plan?.steps.map((step) => [step.name, step]));
  return (
    <ol className={classes.steps} aria-label={t("workflow.steps")}>
      {steps.map((step) => (
        <li key={step.from} style={{ paddingInlineStart: `calc(${step.depth} * var(--space-4))` }}>
          <button
            type="button"
            className={classes.step}
            aria-current={step === current ? "step" : undefined}
            onClick={() => onSelect(step)}
          >
            <span className={classes.name}>{step.name === "" ? t("workflow.unnamed") : step.name}</span>
            <span className={classes.type}>{step.type}</span>
            {step.dependsOn.length > 0 && (
              <span className={classes.after}>
                {t("workflow.after", { names: step.dependsOn.join(", ") })}
              </span>
            )}
          </button>
          <Planned step={planned.get(step.name)} />
        </li>
      ))}
    </ol>
  );
});

function Planned({ step }: { readonly step: PlannedStep | undefined }): ReactNode {
  const { t } = useTranslation();
  if (step === undefined) return null;
  return (
    <div className={classes.planned}>
      <p data-will={step.will}>
        {t(`workflow.will_${step.will}`)}
        {step.reason !== "" && `: ${step.reason}`}
      </p>
      {step.commands.length > 0 && <pre>{step.commands.join("\n")}</pre>}
    </div>
  );
}
