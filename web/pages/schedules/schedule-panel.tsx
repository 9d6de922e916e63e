import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { dataOf } from "../../../client/api.ts";
import { api } from "../../api/client.ts";
import { EVENTS, eventPath } from "../../api/events.ts";
import { SCHEDULES, type Schedule } from "../../api/schedules.ts";
import { workflowPath } from "../../api/workflows.ts";
import { DetailsPanel, DetailsSection } from "../../components/details-panel.tsx";
import { ErrorState } from "../../components/error-state.tsx";
import { Fact, Facts } from "../../components/facts.tsx";
import { JsonView } from "../../components/json-view.tsx";
import { ScheduleActions, ScheduleCause } from "../../components/schedule.tsx";
import { ExactTime, relativeTime, Time } from "../../components/time.tsx";
import { useTranslation } from "../../i18n/use-translation.ts";
import classes from "./schedules.module.css";

/** Next and last runs that are shown. */
const NEXT_MAX = 8;
const LAST_MAX = 8;
const REFRESH_MS = 30_000;

interface Props {
  readonly schedule: Schedule;
  readonly closeHref: string;
}

/** When a schedule starts its workflow next, when it did, and how many times it missed. */
export function SchedulePanel({ schedule, closeHref }: Props): ReactNode {
  const { t } = useTranslation();
  const { name, workflow_name, trigger_type, misfire, run_count, target, workspace, breaker_open_until } =
    schedule;
  const input = Object.keys(schedule.params).length > 0 ? schedule.params : schedule.input;
  return (
    <DetailsPanel title={name} closeHref={closeHref}>
      <div className={classes.summary}>
        <ScheduleCause schedule={schedule} />
        <ScheduleActions schedule={schedule} />
      </div>
      <Facts>
        <Fact name={t("runs.workflow")}>
          <Link href={`${workflowPath(workflow_name)}?panel=triggers`}>{workflow_name}</Link>
        </Fact>
        <Fact name={t("schedules.runs")}>{run_count}</Fact>
        {target !== "" && <Fact name={t("runs.target")}>{target}</Fact>}
        {workspace !== "" && <Fact name={t("schedules.workspace")}>{workspace}</Fact>}
        {misfire !== "" && <Fact name={t("schedules.misfire")}>{t(`schedules.misfire_${misfire}`)}</Fact>}
        {breaker_open_until !== null && (
          <Fact name={t("schedules.breaker")}>
            <Time value={breaker_open_until} />
          </Fact>
        )}
      </Facts>
      {trigger_type === "cron" && <NextRuns schedule={schedule} />}
      {(trigger_type === "cron" || trigger_type === "watch" || trigger_type === "manual") && (
        <LastFires schedule={schedule} />
      )}
      {Object.keys(input).length > 0 && (
        <DetailsSection title={t("schedules.input")}>
          <JsonView label={t("schedules.input")} text={JSON.stringify(input)} />
        </DetailsSection>
      )}
    </DetailsPanel>
  );
}

function NextRuns({ schedule: { id, is_enabled, timezone } }: Pick<Props, "schedule">): ReactNode {
  const { t, i18n } = useTranslation();
  const next = useQuery({
    queryKey: [SCHEDULES, "next", id, is_enabled],
    queryFn: ({ signal }) =>
      dataOf(
        api.GET("/automation/schedules/{id}/next-runs", {
          params: { path: { id }, query: { count: NEXT_MAX } },
          signal,
        }),
      ),
    refetchInterval: REFRESH_MS,
  });
  const format = new Intl.DateTimeFormat(i18n.language, {
    dateStyle: "medium",
    timeStyle: "short",
    timeZone: timezone === "" ? "UTC" : timezone,
  });
  const now = Date.now();
  return (
    <DetailsSection
      title={t("schedules.next_runs")}
      action={<span className={classes.muted}>{timezone === "" ? "UTC" : timezone}</span>}
    >
      {next.isError && <ErrorState error={next.error} onRetry={() => void next.refetch()} />}
      {next.isSuccess && next.data.data.length === 0 && (
        <p className={classes.muted}>{t("schedules.no_next")}</p>
      )}
      <ul className={classes.times}>
        {next.data?.data.map((time) => (
          <li key={time}>
            <time dateTime={time}>{format.format(new Date(time))}</time>
            <span className={classes.muted}>{relativeTime(Date.parse(time), now, i18n.language)}</span>
          </li>
        ))}
      </ul>
    </DetailsSection>
  );
}

/** The times at which it started its workflow. Their events have the number of times that were missed before. */
function LastFires({ schedule: { name, workflow_name } }: Pick<Props, "schedule">): ReactNode {
  const { t } = useTranslation();
  const query = {
    topic: "schedule.triggered",
    workflow_name,
    name: `${name}-triggered`,
    limit: LAST_MAX,
  };
  const fires = useQuery({
    queryKey: [EVENTS, query],
    queryFn: ({ signal }) => dataOf(api.GET("/automation/event-logs", { params: { query }, signal })),
    refetchInterval: REFRESH_MS,
  });
  return (
    <DetailsSection title={t("schedules.last_runs")}>
      {fires.isError && <ErrorState error={fires.error} onRetry={() => void fires.refetch()} />}
      {fires.isSuccess && fires.data.data.length === 0 && (
        <p className={classes.muted}>{t("schedules.no_last")}</p>
      )}
      <ul className={classes.times}>
        {fires.data?.data.map(({ event_id, created_at, data }) => {
          const { missed = 0 } = JSON.parse(data) as { missed?: number };
          return (
            <li key={event_id}>
              <Link href={eventPath(event_id)} className={classes.link}>
                <ExactTime value={created_at} />
              </Link>
              {missed > 0 && (
                <span className={classes.missed}>{t("schedules.missed", { count: missed })}</span>
              )}
            </li>
          );
        })}
      </ul>
    </DetailsSection>
  );
}
