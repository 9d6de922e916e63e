import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { Link, useLocation } from "wouter";
import { dataOf, type Schemas } from "../../../client/api.ts";
import { api } from "../../api/client.ts";
import { useWorkspaceNames } from "../../api/workspace-names.ts";
import { EmptyState } from "../../components/empty-state.tsx";
import { FilterChips } from "../../components/filter-chips.tsx";
import { filtersFrom, type ListRows, ListWithDetails } from "../../components/list-with-details.tsx";
import pageClasses from "../../components/page.module.css";
import { orderingOf, pageOf, useQueryParameters } from "../../components/query-parameters.ts";
import tableClasses from "../../components/table.module.css";
import { Table } from "../../components/table.tsx";
import { Time } from "../../components/time.tsx";
import { FindingPanel } from "./finding-panel.tsx";

const PAGE_SIZE = 50;
const FILTERS = ["search", "workspace", "asset_type", "source", "status_code"] as const;

/** The assets, newest first. */
export function Assets(): ReactNode {
  const { t } = useTranslation();
  const [, navigate] = useLocation();
  const [parameters, hrefWith] = useQueryParameters();
  const page = pageOf(parameters);
  const filters = filtersFrom(parameters, FILTERS);
  const query = {
    ...filters,
    ...orderingOf(parameters, ["created_at"]),
    offset: (page - 1) * PAGE_SIZE,
    limit: PAGE_SIZE,
  };
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
    <>
      <div className={pageClasses.chips}>
        <FilterChips
          fields={[
            { name: "search", label: t("findings.search") },
            { name: "workspace", label: t("findings.workspace"), suggestions: workspaces },
            { name: "asset_type", label: t("findings.type"), suggestions: valuesOf("asset_type") },
            { name: "source", label: t("findings.source"), suggestions: valuesOf("source") },
            { name: "status_code", label: t("findings.status_code") },
          ]}
          parameters={parameters}
          hrefWith={(changes) => hrefWith({ ...changes, finding: undefined })}
          onAdd={(name, value) => navigate(hrefWith({ [name]: value, page: undefined, finding: undefined }))}
        />
      </div>
      <hr className={pageClasses.line} />
      <ListWithDetails
        list={assets}
        parameter="finding"
        empty={
          <EmptyState
            text={t(Object.keys(filters).length > 0 ? "findings.empty_found" : "findings.no_assets")}
            guide="data"
          />
        }
        table={(shown) => <AssetTable {...shown} />}
        details={(asset, closeHref) => (
          <FindingPanel key={asset.id} title={asset.asset_value} finding={asset} closeHref={closeHref} />
        )}
      />
    </>
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
