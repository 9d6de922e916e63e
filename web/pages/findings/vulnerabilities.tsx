import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { Link, useLocation } from "wouter";
import { dataOf, type Schemas } from "../../../client/api.ts";
import { api } from "../../api/client.ts";
import { useWorkspaceNames } from "../../api/workspace-names.ts";
import { WithDetails } from "../../components/details-panel.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { ErrorState } from "../../components/error-state.tsx";
import { FilterChips } from "../../components/filter-chips.tsx";
import pageClasses from "../../components/page.module.css";
import { PageLinks } from "../../components/page-links.tsx";
import { orderingOf, pageOf, useQueryParameters } from "../../components/query-parameters.ts";
import tableClasses from "../../components/table.module.css";
import { Table } from "../../components/table.tsx";
import { Time } from "../../components/time.tsx";
import { FindingPanel } from "./finding-panel.tsx";
import { SEVERITIES, Severity } from "./severity.tsx";
import { SeverityTimeline } from "./severity-timeline.tsx";

const PAGE_SIZE = 50;
const FILTERS = ["severity", "workspace", "asset_value", "confidence"] as const;

/** The vulnerabilities, newest first, with their numbers over time. */
export function Vulnerabilities(): ReactNode {
  const { t } = useTranslation();
  const [, navigate] = useLocation();
  const [parameters, hrefWith] = useQueryParameters();
  const page = pageOf(parameters);
  const filters = Object.fromEntries(
    FILTERS.flatMap((name) => {
      const value = parameters.get(name) ?? "";
      return value === "" ? [] : [[name, value]];
    }),
  );
  const query = {
    ...filters,
    ...orderingOf(parameters, ["created_at"]),
    offset: (page - 1) * PAGE_SIZE,
    limit: PAGE_SIZE,
  };
  const found = useQuery({
    queryKey: ["vulnerabilities", query],
    queryFn: ({ signal }) => dataOf(api.GET("/automation/vulnerabilities", { params: { query }, signal })),
    placeholderData: keepPreviousData,
  });
  const workspaces = useWorkspaceNames();
  const rows = found.data?.data ?? [];
  const chosen = rows.find(({ id }) => `${id}` === parameters.get("finding"));
  return (
    <>
      <SeverityTimeline workspace={parameters.get("workspace") ?? ""} />
      <FilterChips
        fields={[
          {
            name: "severity",
            label: t("findings.severity"),
            options: SEVERITIES.map((value) => ({ value, name: t(`severity.${value}`) })),
          },
          { name: "workspace", label: t("findings.workspace"), suggestions: workspaces },
          { name: "asset_value", label: t("findings.asset") },
          { name: "confidence", label: t("findings.confidence") },
        ]}
        parameters={parameters}
        hrefWith={(changes) => hrefWith({ ...changes, finding: undefined })}
        onAdd={(name, value) => navigate(hrefWith({ [name]: value, page: undefined, finding: undefined }))}
      />
      <hr className={pageClasses.line} />
      {found.isError && <ErrorState error={found.error} onRetry={() => void found.refetch()} />}
      {found.isSuccess && rows.length === 0 && (
        <EmptyState
          text={t(Object.keys(filters).length > 0 ? "findings.empty_found" : "findings.no_vulnerabilities")}
          guide="data"
        />
      )}
      {found.isSuccess && rows.length > 0 && (
        <WithDetails
          details={
            chosen && (
              <FindingPanel
                key={chosen.id}
                title={chosen.vuln_title}
                finding={chosen}
                closeHref={hrefWith({ finding: undefined })}
              />
            )
          }
        >
          <VulnerabilityTable
            rows={rows}
            chosen={chosen?.id}
            hrefOf={(id) => hrefWith({ finding: id === chosen?.id ? undefined : `${id}` })}
          />
          <PageLinks
            pagination={found.data.pagination}
            page={page}
            hrefOfPage={(number) =>
              hrefWith({ page: number === 1 ? undefined : `${number}`, finding: undefined })
            }
          />
        </WithDetails>
      )}
    </>
  );
}

interface TableProps {
  readonly rows: readonly Schemas["Vulnerability"][];
  readonly chosen: number | undefined;
  readonly hrefOf: (id: number) => string;
}

function VulnerabilityTable({ rows, chosen, hrefOf }: TableProps): ReactNode {
  const { t } = useTranslation();
  return (
    <Table
      label={t("findings.vulnerabilities")}
      order="-created_at"
      columns={[
        { name: t("findings.name") },
        { name: t("findings.severity") },
        { name: t("findings.asset") },
        { name: t("findings.workspace") },
        { name: t("findings.first_seen"), sort: "created_at" },
        { name: t("findings.last_seen") },
      ]}
    >
      {rows.map(({ id, vuln_title, severity, asset_value, workspace, created_at, last_seen_at }) => (
        <tr key={id}>
          <th scope="row">
            <Link
              href={hrefOf(id)}
              className={tableClasses.link}
              dir="auto"
              aria-current={id === chosen ? "true" : undefined}
            >
              {vuln_title === "" ? t("findings.untitled") : vuln_title}
            </Link>
          </th>
          <td>
            <Severity name={severity} />
          </td>
          <td className={tableClasses.text} dir="auto">
            {asset_value}
          </td>
          <td className={tableClasses.text} dir="auto">
            {workspace}
          </td>
          <td className={tableClasses.muted}>
            <Time value={created_at} />
          </td>
          <td className={tableClasses.muted}>
            <Time value={last_seen_at} />
          </td>
        </tr>
      ))}
    </Table>
  );
}
