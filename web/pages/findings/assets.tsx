import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { dataOf, type Schemas } from "../../../client/api.ts";
import { api } from "../../api/client.ts";
import { useWorkspaceNames } from "../../api/workspace-names.ts";
import type { ListRows } from "../../components/list-with-details.tsx";
import { ListWithFilters, useListQuery } from "../../components/list-with-filters.tsx";
import tableClasses from "../../components/table.module.css";
import { Table } from "../../components/table.tsx";
import { Time } from "../../components/time.tsx";
import { useTranslation } from "../../i18n/use-translation.ts";
import { FindingPanel } from "./finding-panel.tsx";

const FILTERS = ["search", "workspace", "asset_type", "source", "status_code"] as const;

/** The assets, newest first. */
export function Assets(): ReactNode {
  const { t } = useTranslation();
  const query = useListQuery(FILTERS);
  const assets = useQuery({
    queryKey: ["assets", query],
    queryFn: ({ signal }) => dataOf(api.GET("/automation/assets", { params: { query }, signal })),
    placeholderData: keepPreviousData,
  });
  const workspaces = useWorkspaceNames();
  const rows = assets.data?.data ?? [];
  const valuesOf = (name: "asset_type" | "source"): string[] =>
    [...new Set(rows.map((row) => row[name]))].filter((value) => value !== "").sort();
  return (
    <ListWithFilters
      filters={[
        { name: "search", label: t("findings.search") },
        { name: "workspace", label: t("findings.workspace"), suggestions: workspaces },
        { name: "asset_type", label: t("findings.type"), suggestions: valuesOf("asset_type") },
        { name: "source", label: t("findings.source"), suggestions: valuesOf("source") },
        { name: "status_code", label: t("findings.status_code") },
      ]}
      list={assets}
      parameter="finding"
      empty={t("findings.no_assets")}
      emptyFound={t("findings.empty_found")}
      guide="data"
      table={(shown) => <AssetTable {...shown} />}
      details={(asset, closeHref) => (
        <FindingPanel key={asset.id} title={asset.asset_value} finding={asset} closeHref={closeHref} />
      )}
    />
  );
}

function AssetTable({ rows, chosen, hrefOf }: ListRows<Schemas["Asset"]>): ReactNode {
  const { t } = useTranslation();
  return (
    <Table
      label={t("findings.assets")}
      order="-created_at"
      columns={[
        { name: t("findings.asset") },
        { name: t("findings.type") },
        { name: t("findings.source") },
        { name: t("findings.workspace") },
        { name: t("findings.first_seen"), sort: "created_at" },
        { name: t("findings.last_seen") },
      ]}
    >
      {rows.map(({ id, asset_value, asset_type, source, workspace, created_at, last_seen_at }) => (
        <tr key={id}>
          <th scope="row">
            <Link
              href={hrefOf(id)}
              className={tableClasses.link}
              dir="auto"
              aria-current={id === chosen ? "true" : undefined}
            >
              {asset_value}
            </Link>
          </th>
          <td className={tableClasses.muted}>{asset_type}</td>
          <td className={tableClasses.muted}>{source}</td>
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
