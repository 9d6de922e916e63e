import type { ReactNode } from "react";
import { Link } from "wouter";
import { durationOf, type Run, stateOf } from "../../api/runs.ts";
import { workflowPath } from "../../api/workflows.ts";
import { State } from "../../components/state.tsx";
import { formatDuration, Time } from "../../components/time.tsx";
import { useTranslation } from "../../i18n/use-translation.ts";
import classes from "./run.module.css";

/** The state of a run and what it was started with, in one line. */
export function RunFacts({ run }: { readonly run: Run }): ReactNode {
  const { t, i18n } = useTranslation();
  const duration = durationOf(run, Date.now());
  const params = Object.entries(run.params);
  return (
    <>
      <State name={stateOf(run)} />
      {duration !== undefined && <span>{formatDuration(duration, i18n.language)}</span>}
      <Time value={run.started_at ?? run.created_at} />
      <dl className={classes.facts}>
        {run.target !== "" && (
          <Fact name={t("runs.target")}>
            <span dir="auto">{run.target}</span>
          </Fact>
        )}
        <Fact name={t("runs.trigger")}>
          {run.trigger_name === "" ? run.trigger_type : `${run.trigger_type} ${run.trigger_name}`}
        </Fact>
        <Fact name={t("runs.workflow")}>
          <Link href={workflowPath(run.workflow_name)} className={classes.link}>
            {run.workflow_name}
          </Link>
        </Fact>
        <Fact name={t("run.revision")}>{run.workflow_revision}</Fact>
        {run.source !== null && (
          <Fact name={t(`run.source_${run.source.action}`)}>
            <Link href={`/runs/${run.source.run_id}`} className={classes.link}>
              {run.source.run_id.slice(0, 8)}
            </Link>
            {run.source.step !== "" && ` ${t("run.source_step", { step: run.source.step })}`}
          </Fact>
        )}
        <Fact name={t("run.workspace")}>{run.workspace}</Fact>
        <Fact name={t("run.id")}>
          <code>{run.run_uuid}</code>
        </Fact>
        {params.length > 0 && (
          <Fact name={t("run.params")}>
            <code>{params.map(([name, value]) => `${name}=${value}`).join(" ")}</code>
          </Fact>
        )}
      </dl>
    </>
  );
}

const Fact = ({ name, children }: { readonly name: string; readonly children: ReactNode }): ReactNode => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);
