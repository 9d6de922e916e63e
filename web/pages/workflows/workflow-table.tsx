import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { dataOf } from "../../../client/api.ts";
import { api } from "../../api/client.ts";
import { isFinished, type Run } from "../../api/runs.ts";
import { type Workflow, workflowPath } from "../../api/workflows.ts";
import { ButtonLink } from "../../components/button.tsx";
import tableClasses from "../../components/table.module.css";
import { Table } from "../../components/table.tsx";
import { useTranslation } from "../../i18n/use-translation.ts";
import { LastRuns, LastState, SHOWN_RUNS } from "./last-runs.tsx";
import classes from "./workflows.module.css";

/** Runs that are read for all rows at once. Workflows that ran before them ask for their own. */
const RECENT_RUNS = 200;
const REFRESH_MS = 2_000;

const runsQuery = (workflow: string | undefined, limit: number, isEnabled: boolean) =>
  ({
    queryKey: ["runs", "last", workflow],
    queryFn: ({ signal }: { signal: AbortSignal }) =>
      dataOf(
        api.GET("/automation/runs", {
          params: { query: { ...(workflow === undefined ? {} : { workflow }), limit } },
          signal,
        }),
      ),
    enabled: isEnabled,
  }) as const;

export function WorkflowTable({ workflows }: { readonly workflows: readonly Workflow[] }): ReactNode {
  const { t } = useTranslation();
  const recent = useQuery({
    ...runsQuery(undefined, RECENT_RUNS, true),
    refetchInterval: ({ state }) => (state.data?.data.every(isFinished) === false ? REFRESH_MS : false),
  });
  const hasAll = recent.data !== undefined && recent.data.pagination.total <= RECENT_RUNS;
  return (
    <Table
      label={t("workflows.title")}
      order="name"
      columns={[
        { name: t("workflows.name"), sort: "name" },
        { name: t("workflows.description") },
        { name: t("workflows.steps"), sort: "step_count", kind: "number" },
        { name: t("workflows.triggers"), sort: "trigger_count", kind: "number" },
        { name: t("workflows.last_runs") },
        { name: t("workflows.last_state") },
        { name: t("workflows.actions"), kind: "actions" },
      ]}
    >
      {workflows.map((workflow) => (
        <Row
          key={workflow.name}
          workflow={workflow}
          recent={recent.data?.data.filter(({ workflow_name }) => workflow_name === workflow.name)}
          hasAll={hasAll}
        />
      ))}
    </Table>
  );
}

interface RowProps {
  readonly workflow: Workflow;
  /** Its runs among the recent ones; undefined until they are known. */
  readonly recent: readonly Run[] | undefined;
  /** Whether these are all of its runs. */
  readonly hasAll: boolean;
}

function Row({ workflow, recent, hasAll }: RowProps): ReactNode {
  const { t } = useTranslation();
  const { name, description, kind, step_count, module_count, trigger_count } = workflow;
  const isEnough = hasAll || (recent !== undefined && recent.length >= SHOWN_RUNS);
  const own = useQuery(runsQuery(name, SHOWN_RUNS, recent !== undefined && !isEnough));
  const runs = isEnough ? recent?.slice(0, SHOWN_RUNS) : own.data?.data;
  return (
    <tr>
      <th scope="row">
        <Link href={workflowPath(name)} className={tableClasses.link} dir="auto">
          {name}
        </Link>
      </th>
      <td className={tableClasses.text} title={description}>
        {description}
      </td>
      <td className={tableClasses.number}>
        {kind === "flow"
          ? t("workflows.modules_count", { count: module_count })
          : t("workflows.steps_count", { count: step_count })}
      </td>
      <td className={tableClasses.number}>
        {trigger_count > 0 && t("workflows.triggers_count", { count: trigger_count })}
      </td>
      <td>{runs !== undefined && <LastRuns runs={runs} />}</td>
      <td>{runs !== undefined && <LastState run={runs[0]} />}</td>
      <td>
        <div className={classes.action}>
          <ButtonLink
            href={`${workflowPath(name)}?panel=run`}
            variant="default"
            size="compact-sm"
            aria-label={t("workflows.run_named", { name })}
          >
            {t("workflows.run")}
          </ButtonLink>
        </div>
      </td>
    </tr>
  );
}
