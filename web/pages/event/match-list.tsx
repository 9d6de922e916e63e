import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { dataOf, type Schemas } from "../../../client/api.ts";
import { api } from "../../api/client.ts";
import { EVENTS } from "../../api/events.ts";
import { workflowPath } from "../../api/workflows.ts";
import { EmptyState } from "../../components/empty-state.tsx";
import { ErrorState } from "../../components/error-state.tsx";
import { visibleJson } from "../../components/json-lines.ts";
import { PageLinks } from "../../components/page-links.tsx";
import { pageOf, useQueryParameters } from "../../components/query-parameters.ts";
import { State, type StateName } from "../../components/state.tsx";
import { useTranslation } from "../../i18n/use-translation.ts";
import classes from "./event.module.css";

const PAGE_SIZE = 50;
/** How often the matches are read again while a run is in progress, milliseconds. */
const REFRESH_MS = 1_000;

type Match = Schemas["EventMatch"];

const isInProgress = ({ matched, exists, run }: Match): boolean =>
  matched && exists && (run === null || ["pending", "running"].includes(run.status));

/** The triggers that an event matched with their runs, then those that it did not match and why. */
export function MatchList({ eventId }: { readonly eventId: string }): ReactNode {
  const { t } = useTranslation();
  const [parameters, hrefWith] = useQueryParameters();
  const page = pageOf(parameters);
  const query = { offset: (page - 1) * PAGE_SIZE, limit: PAGE_SIZE };
  const matches = useQuery({
    queryKey: [EVENTS, "matches", eventId, query],
    queryFn: ({ signal }) =>
      dataOf(
        api.GET("/automation/events/{id}/matches", { params: { path: { id: eventId }, query }, signal }),
      ),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.data.some(isInProgress) === true ? REFRESH_MS : false),
  });
  const rows = matches.data?.data ?? [];
  const groups = [
    { title: t("event.matched"), rows: rows.filter(({ matched }) => matched) },
    {
      title: t("event.not_matched"),
      rows: rows.filter(({ matched, reason }) => !matched && reason !== "topic"),
    },
    { title: t("event.other_topics"), rows: rows.filter(({ reason }) => reason === "topic") },
  ].filter((group) => group.rows.length > 0);
  return (
    <section className={classes.part} aria-label={t("event.triggers")}>
      {matches.isError && <ErrorState error={matches.error} onRetry={() => void matches.refetch()} />}
      {matches.isSuccess && rows.length === 0 && (
        <>
          <header className={classes.heading}>
            <h2>{t("event.triggers")}</h2>
          </header>
          <EmptyState text={t("event.no_triggers")} />
        </>
      )}
      {groups.map(({ title, rows: list }) => (
        <div key={title}>
          <header className={classes.heading}>
            <h2>{title}</h2>
          </header>
          <ul className={classes.matches}>
            {list.map((match) => (
              <MatchRow key={`${match.schedule_id} ${match.trigger}`} match={match} />
            ))}
          </ul>
        </div>
      ))}
      {matches.isSuccess && matches.data.pagination.total > PAGE_SIZE && (
        <PageLinks
          pagination={matches.data.pagination}
          page={page}
          hrefOfPage={(number) => hrefWith({ page: number === 1 ? undefined : `${number}` })}
        />
      )}
    </section>
  );
}

function MatchRow({ match }: { readonly match: Match }): ReactNode {
  const { t } = useTranslation();
  const { workflow, trigger, topic, matched, exists, reason, detail, filter, changed_since, run } = match;
  return (
    <li>
      <p className={classes.trigger}>
        {exists ? (
          <Link href={`${workflowPath(workflow)}?panel=triggers`} className={classes.link} dir="auto">
            {workflow}
          </Link>
        ) : (
          <span dir="auto">{workflow}</span>
        )}
        <span className={classes.muted} dir="auto">
          {trigger}
        </span>
        {topic !== "" && <code className={classes.muted}>{topic}</code>}
        {run !== null && (
          <Link href={`/runs/${run.run_id}`} className={classes.run}>
            <State name={run.status as StateName} />
            <span className={classes.link}>{t("event.run", { number: run.id })}</span>
          </Link>
        )}
        {matched && run === null && <span className={classes.muted}>{t("event.no_run")}</span>}
      </p>
      {reason !== "" && reason !== "topic" && (
        <p className={classes.reason}>
          <strong>{t(`event.reason_${reason}`)}</strong>
          {filter === null && detail !== "" && <span>{detail}</span>}
        </p>
      )}
      {filter !== null && <FailedFilter filter={filter} />}
      {changed_since && reason !== "changed" && reason !== "topic" && (
        <p className={classes.muted}>{t(exists ? "event.changed_since" : "event.deleted")}</p>
      )}
    </li>
  );
}

/** A filter that does not hold, with the values that it was evaluated with. */
function FailedFilter({ filter }: { readonly filter: NonNullable<Match["filter"]> }): ReactNode {
  const { t } = useTranslation();
  const values = Object.entries(filter.values);
  return (
    <div className={classes.filter}>
      <code>{filter.expression}</code>
      {filter.error !== "" && <p className={classes.problem}>{filter.error}</p>}
      {values.length > 0 && (
        <dl aria-label={t("event.values")}>
          {values.map(([name, value]) => (
            <div key={name}>
              <dt>
                <code>{name}</code>
              </dt>
              <dd>
                <code>{value === null ? t("event.no_value") : visibleJson(JSON.stringify(value))}</code>
              </dd>
            </div>
          ))}
        </dl>
      )}
    </div>
  );
}
