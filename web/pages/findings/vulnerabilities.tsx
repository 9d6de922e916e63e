import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { dataOf, type Schemas } from "../../../client/api.ts";
import { api } from "../../api/client.ts";
import { useWorkspaceNames } from "../../api/workspace-names.ts";
import type { ListRows } from "../../components/list-with-details.tsx";
import { ListWithFilters, useListQuery } from "../../components/list-with-filters.tsx";
import { useQueryParameters } from "../../components/query-parameters.ts";
import tableClasses from "../../components/table.module.css";
import { Table } from "../../components/table.tsx";
import { Time } from "../../components/time.tsx";
import { useTranslation } from "../../i18n/use-translation.ts";
import { FindingPanel } from "./finding-panel.tsx";
import { SEVERITIES, Severity } from "./severity.tsx";
import { SeverityTimeline } from "./severity-timeline.tsx";

const FILTERS = ["severity", "workspace", "asset_value", "confidence"] as const;

/** The vulnerabilities, newest first, with their numbers over time. */
export function Vulnerabilities(): ReactNode {
  const { t } = useTranslation();
  const [parameters] = useQueryParameters();
  const query = useListQuery(FILTERS);
  const found = useQuery({
    queryKey: ["vulnerabilities", query],
    queryFn: ({ signal }) => dataOf(api.GET("/automation/vulnerabilities", { params: { query }, signal })),
    placeholderData: keepPreviousData,
  });
  const workspaces = useWorkspaceNames();
  return (
    <>
      <SeverityTimeline workspace={parameters.get("workspace") ?? ""} />
      <ListWithFilters
        filters={[
          {
            name: "severity",
            label: t("findings.severity"),
            options: SEVERITIES.map((value) => ({ value, name: t(`severity.${value}`) })),
          },
          { name: "workspace", label: t("findings.workspace"), suggestions: workspaces },
          { name: "asset_value", label: t("findings.asset") },
          { name: "confidence", label: t("findings.confidence") },
        ]}
        list={found}
        parameter="finding"
        empty={t("findings.no_vulnerabilities")}
        emptyFound={t("findings.empty_found")}
        guide="data"
        table={(shown) => <VulnerabilityTable {...shown} />}
        details={(finding, closeHref) => (
          <FindingPanel key={finding.id} title={finding.vuln_title} finding={finding} closeHref={closeHref} />
        )}
      />
    </>
  );
}

function VulnerabilityTable({ rows, chosen, hrefOf }: ListRows<Schemas["Vulnerability"]>): ReactNode {
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
