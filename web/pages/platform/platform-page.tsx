import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { dataOf, type Schemas } from "../../../client/api.ts";
import { api } from "../../api/client.ts";
import { isForbidden } from "../../api/failures.ts";
import { CopyCommand } from "../../components/copy-command.tsx";
import { ErrorState } from "../../components/error-state.tsx";
import { FilterField } from "../../components/filter-field.tsx";
import { FilterTabs } from "../../components/filter-tabs.tsx";
import classes from "../../components/page.module.css";
import { PageHeader } from "../../components/page-header.tsx";
import { useQueryParameters } from "../../components/query-parameters.ts";
import { State } from "../../components/state.tsx";
import { useTranslation } from "../../i18n/use-translation.ts";
import { StatusPage } from "../../shell/status-page.tsx";
import { LimitTable, SettingTable } from "./limits-and-settings.tsx";
import { PlatformOverview } from "./platform-overview.tsx";
import { FunctionTable, QueueTable, RuleTable, TableTable } from "./resource-tables.tsx";

export type Platform = Schemas["Platform"];

/** How often the depths of queues are read again, milliseconds. */
const REFRESH_MS = 5_000;
const PARTS = ["overview", "functions", "queues", "rules", "tables", "limits", "settings"] as const;

/** The state of the installation. The part and the filter are in the address. */
export function PlatformPage(): ReactNode {
  const { t } = useTranslation();
  const [parameters, hrefWith, replace] = useQueryParameters();
  const part = PARTS.find((one) => one === parameters.get("part")) ?? "overview";
  const filter = parameters.get("q") ?? "";
  const platform = useQuery({
    queryKey: ["platform"],
    queryFn: ({ signal }) => dataOf(api.GET("/automation/platform", { signal })),
    refetchInterval: REFRESH_MS,
  });
  if (isForbidden(platform.error)) return <StatusPage kind="forbidden" />;
  const data = platform.data?.data;
  return (
    <div className={classes.page}>
      <PageHeader
        title={t("platform.title")}
        facts={data && <Health platform={data} />}
        action={<CopyCommand request={{ path: "/automation/platform" }} weft={["doctor"]} />}
      />
      <div className={classes.toolbar}>
        <FilterTabs
          label={t("platform.parts")}
          tabs={PARTS.map((one) => ({
            name: t(`platform.${one}`),
            href: hrefWith({ part: one === "overview" ? undefined : one, q: undefined }),
            isCurrent: one === part,
          }))}
        />
        {part !== "overview" && (
          <FilterField
            label={t("platform.filter")}
            value={filter}
            onChange={(text) => replace({ q: text === "" ? undefined : text })}
          />
        )}
      </div>
      {platform.isError && <ErrorState error={platform.error} onRetry={() => void platform.refetch()} />}
      {data !== undefined && <Part part={part} platform={data} filter={filter.toLowerCase()} />}
    </div>
  );
}

function Health({ platform }: { readonly platform: Platform }): ReactNode {
  const { t } = useTranslation();
  const { health, version } = platform;
  return (
    <>
      {health.status === "ready" ? (
        <State name="completed" label={t("platform.ready")} />
      ) : (
        <>
          <State name="failed" label={t("platform.unavailable")} />
          <span>{health.message}</span>
        </>
      )}
      <span>{t("platform.version", { version })}</span>
      <span>{t(`platform.on_${platform.platform}`)}</span>
    </>
  );
}

interface PartProps {
  readonly part: (typeof PARTS)[number];
  readonly platform: Platform;
  /** In lower case. */
  readonly filter: string;
}

function Part({ part, platform, filter }: PartProps): ReactNode {
  const matching = <Row extends { readonly name: string }>(rows: readonly Row[]): Row[] =>
    rows.filter(({ name }) => name.toLowerCase().includes(filter));
  switch (part) {
    case "overview":
      return <PlatformOverview platform={platform} />;
    case "functions":
      return <FunctionTable functions={matching(platform.functions)} />;
    case "queues":
      return <QueueTable queues={matching(platform.queues)} />;
    case "rules":
      return <RuleTable rules={matching(platform.rules)} schedules={matching(platform.schedules)} />;
    case "tables":
      return <TableTable tables={matching(platform.tables)} />;
    case "limits":
      return <LimitTable limits={matching(platform.limits)} />;
    case "settings":
      return <SettingTable settings={matching(platform.settings)} />;
  }
}
