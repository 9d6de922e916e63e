import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { dataOf } from "../../../client/api.ts";
import { api } from "../../api/client.ts";
import { SCHEDULES, type Schedule } from "../../api/schedules.ts";
import { ButtonLink } from "../../components/button.tsx";
import { CopyCommand } from "../../components/copy-command.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { FilterTabs } from "../../components/filter-tabs.tsx";
import { type ListRows, ListWithDetails } from "../../components/list-with-details.tsx";
import classes from "../../components/page.module.css";
import { PageHeader } from "../../components/page-header.tsx";
import { orderingOf, pageOf, useQueryParameters } from "../../components/query-parameters.ts";
import { ScheduleActions, ScheduleCause } from "../../components/schedule.tsx";
import tableClasses from "../../components/table.module.css";
import { Table } from "../../components/table.tsx";
import { Time } from "../../components/time.tsx";
import { useTranslation } from "../../i18n/use-translation.ts";
import { SchedulePanel } from "./schedule-panel.tsx";

const PAGE_SIZE = 50;
/** How often the next runs are read again, milliseconds. */
const REFRESH_MS = 30_000;
const TYPES = ["cron", "event", "watch", "webhook", "manual"] as const;

/** Schedules and the triggers of workflows; the filter and the page are in the address. */
export function SchedulesPage(): ReactNode {
  const { t } = useTranslation();
  const [parameters, hrefWith] = useQueryParameters();
  const type = TYPES.find((one) => one === parameters.get("type"));
  const page = pageOf(parameters);
  const query = {
    ...(type === undefined ? {} : { trigger_type: type }),
    ...orderingOf(parameters, ["workflow_name", "name", "trigger_type"]),
    offset: (page - 1) * PAGE_SIZE,
    limit: PAGE_SIZE,
  };
  const schedules = useQuery({
    queryKey: [SCHEDULES, query],
    queryFn: ({ signal }) => dataOf(api.GET("/automation/schedules", { params: { query }, signal })),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
  return (
    <div className={classes.page}>
      <PageHeader
        title={t("schedules.title")}
        action={
          <CopyCommand
            request={{ path: "/automation/schedules", query }}
            weft={query.ordering === undefined ? weftSchedules(type) : undefined}
          />
        }
      />
      <div className={classes.toolbar}>
        <FilterTabs
          label={t("schedules.types")}
          tabs={[undefined, ...TYPES].map((one) => ({
            name: t(one === undefined ? "schedules.all" : `schedules.type_${one}`),
            href: hrefWith({ type: one, page: undefined }),
            isCurrent: one === type,
          }))}
        />
      </div>
      <ListWithDetails
        list={schedules}
        parameter="schedule"
        empty={
          <EmptyState
            text={t(type === undefined ? "schedules.empty" : "schedules.empty_found")}
            guide="triggers"
            action={
              type === undefined && (
                <ButtonLink href="/new-workflow" variant="default">
                  {t("schedules.new_workflow")}
                </ButtonLink>
              )
            }
          />
        }
        table={(shown) => <ScheduleTable {...shown} />}
        details={(schedule, closeHref) => (
          <SchedulePanel key={schedule.id} schedule={schedule} closeHref={closeHref} />
        )}
      />
    </div>
  );
}

/** The command that lists the same. It has no option for the type of webhooks. */
const weftSchedules = (type: (typeof TYPES)[number] | undefined): string[] | undefined =>
  type === "webhook"
    ? undefined
    : ["schedules", "list", ...(type === undefined ? [] : ["--trigger-type", type])];

function ScheduleTable({ rows, chosen, hrefOf }: ListRows<Schedule>): ReactNode {
  const { t } = useTranslation();
  return (
    <Table
      label={t("schedules.title")}
      columns={[
        { name: t("runs.workflow"), sort: "workflow_name" },
        { name: t("schedules.name"), sort: "name" },
        { name: t("schedules.cause"), sort: "trigger_type" },
        { name: t("schedules.next") },
        { name: t("schedules.last") },
        { name: t("workflows.actions"), kind: "actions" },
      ]}
    >
      {rows.map((schedule) => (
        <tr key={schedule.id}>
          <th scope="row">
            <Link
              href={hrefOf(schedule.id)}
              className={tableClasses.link}
              dir="auto"
              aria-current={schedule.id === chosen ? "true" : undefined}
            >
              {schedule.workflow_name}
            </Link>
          </th>
          <td className={tableClasses.text}>{schedule.name}</td>
          <td>
            <ScheduleCause schedule={schedule} />
          </td>
          <td className={tableClasses.muted}>
            {schedule.next_run !== null && <Time value={schedule.next_run} />}
          </td>
          <td className={tableClasses.muted}>
            <Time value={schedule.last_run} />
          </td>
          <td className={tableClasses.actions}>
            <ScheduleActions schedule={schedule} />
          </td>
        </tr>
      ))}
    </Table>
  );
}
