import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { dataOf } from "../../../client/api.ts";
import { api } from "../../api/client.ts";
import { SCHEDULES } from "../../api/schedules.ts";
import { EmptyState } from "../../components/empty-state.tsx";
import { ErrorState } from "../../components/error-state.tsx";
import { ScheduleActions, ScheduleCause } from "../../components/schedule.tsx";
import { Time } from "../../components/time.tsx";
import { useTranslation } from "../../i18n/use-translation.ts";
import classes from "./workflow.module.css";

/** A workflow declares at most 64 triggers; the others are schedules that requests created. */
const TRIGGERS_MAX = 200;

/** What starts a workflow: the triggers that it declares, and schedules. */
export function WorkflowTriggers({ workflow }: { readonly workflow: string }): ReactNode {
  const { t } = useTranslation();
  const query = { workflow_name: workflow, limit: TRIGGERS_MAX };
  const triggers = useQuery({
    queryKey: [SCHEDULES, query],
    queryFn: ({ signal }) => dataOf(api.GET("/automation/schedules", { params: { query }, signal })),
  });
  if (triggers.data === undefined)
    return triggers.isError && <ErrorState error={triggers.error} onRetry={() => void triggers.refetch()} />;
  const { data } = triggers.data;
  if (data.length === 0) return <EmptyState text={t("workflow.no_triggers")} guide="triggers" />;
  return (
    <ul className={classes.triggers}>
      {data.map((schedule) => (
        <li key={schedule.id}>
          <strong>{schedule.name}</strong>
          <ScheduleCause schedule={schedule} />
          <dl>
            {schedule.next_run !== null && (
              <div>
                <dt>{t("schedules.next")}</dt>
                <dd>
                  <Time value={schedule.next_run} />
                </dd>
              </div>
            )}
            <div>
              <dt>{t("schedules.last")}</dt>
              <dd>
                <Time value={schedule.last_run} />
              </dd>
            </div>
          </dl>
          <ScheduleActions schedule={schedule} />
        </li>
      ))}
    </ul>
  );
}
