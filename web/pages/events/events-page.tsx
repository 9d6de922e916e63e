import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { type ReactNode, useMemo } from "react";
import { useLocation } from "wouter";
import { dataOf } from "../../../client/api.ts";
import { api } from "../../api/client.ts";
import { EVENT_FILTERS, EVENTS, type EventFilters, type EventRecord } from "../../api/events.ts";
import { ButtonLink } from "../../components/button.tsx";
import { CopyCommand } from "../../components/copy-command.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { ErrorState } from "../../components/error-state.tsx";
import { FilterChips, type FilterField } from "../../components/filter-chips.tsx";
import classes from "../../components/page.module.css";
import { PageHeader } from "../../components/page-header.tsx";
import { PageLinks } from "../../components/page-links.tsx";
import { orderingOf, pageOf, useQueryParameters } from "../../components/query-parameters.ts";
import { useTranslation } from "../../i18n/use-translation.ts";
import { EventTable } from "./event-table.tsx";
import { LiveBar, WaitingEvents } from "./live-bar.tsx";
import { useLiveEvents } from "./live-events.ts";

const PAGE_SIZE = 50;

/**
 * The event log, newest first by default. New events appear on its first page; filters, order and page are in the
 * address.
 */
export function EventsPage(): ReactNode {
  const { t } = useTranslation();
  const [, navigate] = useLocation();
  const [parameters, hrefWith] = useQueryParameters();
  const page = pageOf(parameters);
  const processed = parameters.get("processed") ?? "";
  const filters: EventFilters = Object.fromEntries(
    EVENT_FILTERS.flatMap((name) => {
      const value = parameters.get(name) ?? "";
      return value === "" ? [] : [[name, value]];
    }),
  );
  const query = {
    ...filters,
    ...(processed === "" ? {} : { processed: processed === "true" }),
    ...orderingOf(parameters, ["created_at"]),
    offset: (page - 1) * PAGE_SIZE,
    limit: PAGE_SIZE,
  };
  const events = useQuery({
    queryKey: [EVENTS, query],
    queryFn: ({ signal }) => dataOf(api.GET("/automation/event-logs", { params: { query }, signal })),
    placeholderData: keepPreviousData,
    // New events must not move the rows that are being read.
    refetchOnWindowFocus: false,
  });
  // A stream sends events when they are recorded, before they are processed.
  const canFollow = page === 1 && processed === "" && query.ordering !== "created_at";
  const live = useLiveEvents({ filters, isEnabled: canFollow, listed: events.data?.data });
  const fields = useFilterFields(live.rows);
  const hasFilter = processed !== "" || Object.keys(filters).length > 0;
  const pagination = events.data && {
    ...events.data.pagination,
    total: events.data.pagination.total + live.added,
  };
  return (
    <div className={classes.page}>
      <PageHeader
        title={t("events.title")}
        facts={
          <>
            {pagination !== undefined && <EventCount total={pagination.total} />}
            {canFollow && <LiveBar live={live} />}
          </>
        }
        action={
          <>
            <CopyCommand
              request={{ path: "/automation/event-logs", query }}
              weft={query.ordering === undefined ? weftEvents(query) : undefined}
            />
            <ButtonLink href="/send-event">{t("events.send")}</ButtonLink>
          </>
        }
      />
      <div className={classes.toolbar}>
        <FilterChips
          fields={fields}
          parameters={parameters}
          hrefWith={hrefWith}
          onAdd={(name, value) => navigate(hrefWith({ [name]: value, page: undefined }))}
        />
      </div>
      {events.isError && <ErrorState error={events.error} onRetry={() => void events.refetch()} />}
      {events.isSuccess && live.rows.length === 0 && (
        <EmptyState
          text={t(hasFilter ? "events.empty_found" : "events.empty")}
          guide="triggers#event-triggers"
          action={
            hasFilter ? undefined : (
              <ButtonLink href="/send-event" variant="default">
                {t("events.send")}
              </ButtonLink>
            )
          }
        />
      )}
      {pagination !== undefined && live.rows.length > 0 && (
        <>
          {canFollow && <WaitingEvents live={live} />}
          <EventTable events={live.rows} />
          <PageLinks
            pagination={{ ...pagination, limit: Math.max(PAGE_SIZE, live.rows.length) }}
            page={page}
            hrefOfPage={(number) => hrefWith({ page: number === 1 ? undefined : `${number}` })}
          />
        </>
      )}
    </div>
  );
}

function EventCount({ total }: { readonly total: number }): ReactNode {
  const { t, i18n } = useTranslation();
  const number = new Intl.NumberFormat(i18n.language).format(total);
  return <span>{t("events.count", { count: total, number })}</span>;
}

/** The filters, with the values of the events on screen as suggestions. */
function useFilterFields(events: readonly EventRecord[]): FilterField[] {
  const { t } = useTranslation();
  return useMemo(
    () => [
      ...EVENT_FILTERS.map((name) => ({
        name,
        label: t(`events.${name}`),
        suggestions: [...new Set(events.map((event) => event[name]))].filter((value) => value !== "").sort(),
      })),
      {
        name: "processed",
        label: t("events.state"),
        options: [
          { value: "true", name: t("events.processed") },
          { value: "false", name: t("events.pending") },
        ],
      },
    ],
    [events, t],
  );
}

function weftEvents({
  offset,
  ...query
}: EventFilters & {
  readonly processed?: boolean;
  readonly offset: number;
  readonly limit: number;
}): string[] {
  const options = { ...query, ...(offset === 0 ? {} : { offset }) };
  return [
    "events",
    ...Object.entries(options).flatMap(([name, value]) => [`--${name.replaceAll("_", "-")}`, String(value)]),
  ];
}
