import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { dataOf } from "../../../client/api.ts";
import { api } from "../../api/client.ts";
import { EmptyState } from "../../components/empty-state.tsx";
import { ErrorState } from "../../components/error-state.tsx";
import { PageLinks } from "../../components/page-links.tsx";
import { orderingOf, pageOf, useQueryParameters } from "../../components/query-parameters.ts";
import tableClasses from "../../components/table.module.css";
import { Table } from "../../components/table.tsx";
import { Time } from "../../components/time.tsx";
import { useTranslation } from "../../i18n/use-translation.ts";

const PAGE_SIZE = 50;

/** The workspaces with the numbers of their findings. A row leads to its files. */
export function WorkspaceTable(): ReactNode {
  const { t, i18n } = useTranslation();
  const [parameters, hrefWith] = useQueryParameters();
  const page = pageOf(parameters);
  const query = {
    ...orderingOf(parameters, ["created_at"]),
    offset: (page - 1) * PAGE_SIZE,
    limit: PAGE_SIZE,
  };
  const workspaces = useQuery({
    queryKey: ["workspaces", query],
    queryFn: ({ signal }) => dataOf(api.GET("/automation/workspaces", { params: { query }, signal })),
    placeholderData: keepPreviousData,
  });
  const format = new Intl.NumberFormat(i18n.language).format;
  if (workspaces.isError)
    return <ErrorState error={workspaces.error} onRetry={() => void workspaces.refetch()} />;
  if (workspaces.data === undefined) return null;
  if (workspaces.data.data.length === 0) return <EmptyState text={t("files.no_workspaces")} guide="data" />;
  return (
    <>
      <Table
        label={t("files.workspaces")}
        order="-created_at"
        columns={[
          { name: t("files.workspace") },
          { name: t("files.assets"), kind: "number" },
          { name: t("files.vulnerabilities"), kind: "number" },
          { name: t("files.workflow") },
          { name: t("files.last_run") },
          { name: t("files.created"), sort: "created_at" },
        ]}
      >
        {workspaces.data.data.map(
          ({ name, total_assets, total_vulns, run_workflow, last_run, created_at }) => (
            <tr key={name}>
              <th scope="row">
                <Link
                  href={`/files?workspace=${encodeURIComponent(name)}`}
                  className={tableClasses.link}
                  dir="auto"
                >
                  {name}
                </Link>
              </th>
              <td className={tableClasses.number}>{format(total_assets)}</td>
              <td className={tableClasses.number}>{format(total_vulns)}</td>
              <td className={tableClasses.text}>{run_workflow}</td>
              <td className={tableClasses.muted}>
                <Time value={last_run} />
              </td>
              <td className={tableClasses.muted}>
                <Time value={created_at} />
              </td>
            </tr>
          ),
        )}
      </Table>
      <PageLinks
        pagination={workspaces.data.pagination}
        page={page}
        hrefOfPage={(number) => hrefWith({ page: number === 1 ? undefined : `${number}` })}
      />
    </>
  );
}
