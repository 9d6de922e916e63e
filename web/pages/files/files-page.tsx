import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { dataOf, type Schemas } from "../../../client/api.ts";
import { api } from "../../api/client.ts";
import { useWorkspaceNames } from "../../api/workspace-names.ts";
import { CopyCommand } from "../../components/copy-command.tsx";
import { FilterTabs } from "../../components/filter-tabs.tsx";
import type { ListRows } from "../../components/list-with-details.tsx";
import { ListWithFilters, useListQuery } from "../../components/list-with-filters.tsx";
import classes from "../../components/page.module.css";
import { PageHeader } from "../../components/page-header.tsx";
import { useQueryParameters } from "../../components/query-parameters.ts";
import tableClasses from "../../components/table.module.css";
import { Table } from "../../components/table.tsx";
import { Time } from "../../components/time.tsx";
import { useTranslation } from "../../i18n/use-translation.ts";
import { FilePanel } from "./file-panel.tsx";
import { formatBytes } from "./format-bytes.ts";
import { WorkspaceTable } from "./workspace-table.tsx";

const FILTERS = ["workspace", "artifact_type", "search"] as const;

export type Artifact = Schemas["Artifact"];

/** The files that runs have written to their workspaces, and the workspaces. */
export function FilesPage(): ReactNode {
  const { t } = useTranslation();
  const [parameters, hrefWith] = useQueryParameters();
  const isWorkspaces = parameters.get("view") === "workspaces";
  return (
    <div className={classes.page}>
      <PageHeader
        title={t("files.title")}
        action={
          <CopyCommand
            request={{ path: isWorkspaces ? "/automation/workspaces" : "/automation/artifacts" }}
          />
        }
      />
      <div className={classes.toolbar}>
        <FilterTabs
          label={t("files.views")}
          tabs={[
            {
              name: t("files.files"),
              href: hrefWith({ view: undefined, page: undefined, file: undefined }),
              isCurrent: !isWorkspaces,
            },
            {
              name: t("files.workspaces"),
              href: hrefWith({ view: "workspaces", page: undefined, file: undefined }),
              isCurrent: isWorkspaces,
            },
          ]}
        />
      </div>
      {isWorkspaces ? <WorkspaceTable /> : <Artifacts />}
    </div>
  );
}

function Artifacts(): ReactNode {
  const { t } = useTranslation();
  const query = { ...useListQuery(FILTERS), verify_exist: true };
  const artifacts = useQuery({
    queryKey: ["artifacts", query],
    queryFn: ({ signal }) => dataOf(api.GET("/automation/artifacts", { params: { query }, signal })),
    placeholderData: keepPreviousData,
  });
  const workspaces = useWorkspaceNames();
  const rows = artifacts.data?.data ?? [];
  return (
    <ListWithFilters
      filters={[
        { name: "search", label: t("files.search") },
        { name: "workspace", label: t("files.workspace"), suggestions: workspaces },
        {
          name: "artifact_type",
          label: t("files.type"),
          suggestions: [...new Set(rows.map(({ artifact_type }) => artifact_type))].sort(),
        },
      ]}
      list={artifacts}
      parameter="file"
      empty={t("files.empty")}
      emptyFound={t("files.empty_found")}
      guide="data"
      table={(shown) => <ArtifactTable {...shown} />}
      details={(artifact, closeHref) => (
        <FilePanel key={artifact.id} artifact={artifact} closeHref={closeHref} />
      )}
    />
  );
}

function ArtifactTable({ rows, chosen, hrefOf }: ListRows<Artifact>): ReactNode {
  const { t, i18n } = useTranslation();
  return (
    <Table
      label={t("files.files")}
      order="-created_at"
      columns={[
        { name: t("files.path") },
        { name: t("files.size"), kind: "number" },
        { name: t("files.type") },
        { name: t("files.workspace") },
        { name: t("files.written") },
        { name: t("files.created"), sort: "created_at" },
      ]}
    >
      {rows.map((artifact) => (
        <tr key={artifact.id}>
          <th scope="row">
            <Link
              href={hrefOf(artifact.id)}
              className={tableClasses.link}
              dir="auto"
              aria-current={artifact.id === chosen ? "true" : undefined}
            >
              {artifact.artifact_path}
            </Link>
          </th>
          <td className={tableClasses.number}>
            {artifact.path_exists === false
              ? t("files.missing")
              : formatBytes(artifact.size_bytes, i18n.language)}
          </td>
          <td className={tableClasses.muted}>{artifact.artifact_type}</td>
          <td className={tableClasses.text} dir="auto">
            {artifact.workspace}
          </td>
          <td className={tableClasses.muted}>
            <Time value={artifact.updated_at} />
          </td>
          <td className={tableClasses.muted}>
            <Time value={artifact.created_at} />
          </td>
        </tr>
      ))}
    </Table>
  );
}
