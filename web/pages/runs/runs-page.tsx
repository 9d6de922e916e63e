import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useCallback, useMemo, useState } from "react";
import { useLocation } from "wouter";
import { dataOf, type Schemas } from "../../../client/api.ts";
import { api } from "../../api/client.ts";
import { useLogChanges } from "../../api/log-changes.ts";
import { createRefresher } from "../../api/refresher.ts";
import { isFinished, type Run } from "../../api/runs.ts";
import { Button, ButtonLink } from "../../components/button.tsx";
import { CopyCommand } from "../../components/copy-command.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { ErrorState } from "../../components/error-state.tsx";
import { FilterChips, type FilterField } from "../../components/filter-chips.tsx";
import { FilterTabs } from "../../components/filter-tabs.tsx";
import { later } from "../../components/later.tsx";
import classes from "../../components/page.module.css";
import { PageHeader } from "../../components/page-header.tsx";
import { PageLinks } from "../../components/page-links.tsx";
import { orderingOf, pageOf, useQueryParameters } from "../../components/query-parameters.ts";
import { useTranslation } from "../../i18n/use-translation.ts";
import { RunTable } from "./run-table.tsx";
import runsClasses from "./runs.module.css";
import { filtersOf, PARAM_PREFIX, STATUSES, TEXT_FILTERS, weftArguments } from "./runs-query.ts";
import { useShownRuns } from "./use-shown-runs.ts";

/* Loaded when a run is selected. */
const BulkBar = later(async () => (await import("./bulk-bar.tsx")).BulkBar);

const STARTED = { topic: "run.started" };
/** What the executor says: ends of runs and of steps. */
const CHANGED = { source: "executor" };

const PAGE_SIZE = 50;
/** How often the list is read again while it has runs in progress and no stream says what changes, milliseconds. */
const REFRESH_MS = 2_000;
/** The same with a stream: runs change their place in a queue without an event. */
const QUEUE_REFRESH_MS = 15_000;
/** Pause between two reads, however much happens, milliseconds. */
const PAUSE_MS = 500;
/** Names of params that are proposed. */
const PARAMS_MAX = 30;
const HOUR_MS = 3_600_000;
const AGES_MS = [HOUR_MS, 24 * HOUR_MS, 7 * 24 * HOUR_MS];

/** The runs, newest first by default; filters, order and page are in the address. */
export function RunsPage(): ReactNode {
  const { t } = useTranslation();
  const [, navigate] = useLocation();
  const [parameters, hrefWith] = useQueryParameters();
  const filters = filtersOf(parameters);
  const page = pageOf(parameters);
  const range = { offset: (page - 1) * PAGE_SIZE, limit: PAGE_SIZE };
  const { ordering } = orderingOf(parameters, ["created_at"]);
  const query = { ...filters, ...(ordering === undefined ? {} : { ordering }), ...range };
  const isLive = useRunChanges(page === 1 && ordering !== "created_at");
  const runs = useQuery({
    queryKey: ["runs", query],
    queryFn: ({ signal }) => dataOf(api.GET("/automation/runs", { params: { query }, signal })),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) =>
      state.data?.data.every(isFinished) === false && (isLive ? QUEUE_REFRESH_MS : REFRESH_MS),
  });
  const fields = useFields(parameters, runs.data?.data ?? []);
  return (
    <div className={classes.page}>
      <PageHeader
        title={t("runs.title")}
        action={
          <CopyCommand
            request={{ path: "/automation/runs", query }}
            weft={ordering === undefined ? weftArguments(filters, range) : undefined}
          />
        }
      />
      <div className={classes.toolbar}>
        <FilterTabs
          label={t("runs.statuses")}
          tabs={[undefined, ...STATUSES].map((one) => ({
            name: one === undefined ? t("runs.all") : t(`state.${one}`),
            href: hrefWith({ status: one, page: undefined }),
            isCurrent: one === filters["status"],
          }))}
        />
        <FilterChips
          fields={fields}
          parameters={parameters}
          hrefWith={hrefWith}
          onAdd={(name, value) => navigate(hrefWith({ [name]: value, page: undefined }))}
        />
      </div>
      {runs.isError && <ErrorState error={runs.error} onRetry={() => void runs.refetch()} />}
      {runs.isSuccess && (
        <Runs
          list={JSON.stringify(query)}
          isOld={runs.isPlaceholderData}
          runs={runs.data.data}
          pagination={runs.data.pagination}
          hasFilter={Object.keys(filters).length > 0}
          page={page}
          hrefOfPage={(number) => hrefWith({ page: number === 1 ? undefined : `${number}` })}
        />
      )}
    </div>
  );
}

/** Reads the list again when a run starts, ends a step or ends. Returns whether the streams say so. */
function useRunChanges(mayStart: boolean): boolean {
  const client = useQueryClient();
  const refresh = useMemo(
    () => createRefresher(() => client.invalidateQueries({ queryKey: ["runs"] }), PAUSE_MS),
    [client],
  );
  useLogChanges(STARTED, refresh, mayStart);
  return useLogChanges(CHANGED, refresh);
}

/** What the list can be filtered by: also the params of the runs in sight, and those in the address. */
function useFields(parameters: URLSearchParams, runs: readonly Run[]): FilterField[] {
  const { t } = useTranslation();
  const [openedAt] = useState(Date.now);
  const times = AGES_MS.map((age) => new Date(openedAt - age).toISOString());
  const valuesOf = (value: (run: Run) => string): string[] => [...new Set(runs.map(value))];
  const suggestions: Readonly<Record<string, readonly string[]>> = {
    workflow: valuesOf(({ workflow_name }) => workflow_name),
    workspace: valuesOf(({ workspace }) => workspace),
    started_after: times,
    started_before: times,
  };
  const params = new Set(
    [
      ...[...parameters.keys()].filter((name) => name.startsWith(PARAM_PREFIX)),
      ...runs.flatMap((run) => Object.keys(run.params).map((name) => PARAM_PREFIX + name)),
    ].slice(0, PARAMS_MAX * PAGE_SIZE),
  );
  return [
    ...TEXT_FILTERS.map((name) => ({
      name,
      label: t(`runs.filter_${name}`),
      ...(suggestions[name] === undefined ? {} : { suggestions: suggestions[name] }),
    })),
    ...[...params].slice(0, PARAMS_MAX).map((name) => ({
      name,
      label: name.slice(PARAM_PREFIX.length),
      suggestions: valuesOf((run) => run.params[name.slice(PARAM_PREFIX.length)] ?? ""),
    })),
  ];
}

interface RunsProps {
  /** Names the list, by its filters, order and page. */
  readonly list: string;
  /** Whether the runs are those of the list before. */
  readonly isOld: boolean;
  readonly runs: readonly Run[];
  readonly pagination: Schemas["Pagination"];
  readonly hasFilter: boolean;
  readonly page: number;
  readonly hrefOfPage: (page: number) => string;
}

function Runs({ list, isOld, runs, pagination, hasFilter, page, hrefOfPage }: RunsProps): ReactNode {
  const { t } = useTranslation();
  const { shown, count, showAll } = useShownRuns(isOld ? `${list} before` : list, runs);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const select = useCallback((id: string, isSelected: boolean): void => {
    setSelected((before) => {
      const next = new Set(before);
      if (isSelected) next.add(id);
      else next.delete(id);
      return next;
    });
  }, []);
  if (runs.length === 0)
    return (
      <EmptyState
        text={t(hasFilter ? "runs.empty_found" : "runs.empty")}
        action={!hasFilter && <ButtonLink href="/workflows">{t("navigation.workflows")}</ButtonLink>}
        guide="runs"
      />
    );
  return (
    <>
      <div role="status" className={runsClasses.new}>
        {count > 0 && (
          <Button size="compact-sm" onClick={showAll}>
            {t("runs.new", { count })}
          </Button>
        )}
      </div>
      <RunTable runs={shown} selected={selected} onSelect={select} />
      <PageLinks pagination={pagination} page={page} hrefOfPage={hrefOfPage} />
      {selected.size > 0 && (
        <BulkBar
          ids={[...selected]}
          onSelectAll={() => setSelected(new Set(shown.map(({ run_uuid }) => run_uuid)))}
          onClear={() => setSelected(new Set())}
        />
      )}
    </>
  );
}
