import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { dataOf } from "../../../client/api.ts";
import { api } from "../../api/client.ts";
import { ButtonLink } from "../../components/button.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { ErrorState } from "../../components/error-state.tsx";
import { FilterField } from "../../components/filter-field.tsx";
import { FilterTabs } from "../../components/filter-tabs.tsx";
import classes from "../../components/page.module.css";
import { PageHeader } from "../../components/page-header.tsx";
import { PageLinks } from "../../components/page-links.tsx";
import { orderingOf, pageOf, useQueryParameters } from "../../components/query-parameters.ts";
import { useTranslation } from "../../i18n/use-translation.ts";
import { WorkflowTable } from "./workflow-table.tsx";

const PAGE_SIZE = 50;
const KINDS = ["module", "flow"] as const;

/** The stored workflows by name; filters and page are in the address. */
export function WorkflowsPage(): ReactNode {
  const { t } = useTranslation();
  const [parameters, hrefWith, replace] = useQueryParameters();
  const kind = KINDS.find((one) => one === parameters.get("kind"));
  const search = parameters.get("q") ?? "";
  const page = pageOf(parameters);
  const query = {
    ...(kind === undefined ? {} : { kind }),
    ...(search === "" ? {} : { search }),
    ...orderingOf(parameters, ["name", "step_count", "trigger_count"]),
    offset: (page - 1) * PAGE_SIZE,
    limit: PAGE_SIZE,
  };
  const workflows = useQuery({
    queryKey: ["workflows", query],
    queryFn: ({ signal }) => dataOf(api.GET("/automation/workflows", { params: { query }, signal })),
    placeholderData: keepPreviousData,
  });
  const create = <ButtonLink href="/new-workflow">{t("workflows.new")}</ButtonLink>;
  const hasFilter = kind !== undefined || search !== "";
  return (
    <div className={classes.page}>
      <PageHeader title={t("workflows.title")} action={create} />
      <div className={classes.toolbar}>
        <FilterTabs
          label={t("workflows.kinds")}
          tabs={[undefined, ...KINDS].map((one) => ({
            name: t(one === undefined ? "workflows.all" : `workflows.kind_${one}`),
            href: hrefWith({ kind: one, page: undefined }),
            isCurrent: one === kind,
          }))}
        />
        <FilterField
          label={t("workflows.filter")}
          value={search}
          onChange={(text) => replace({ q: text === "" ? undefined : text, page: undefined })}
        />
      </div>
      {workflows.isError && <ErrorState error={workflows.error} onRetry={() => void workflows.refetch()} />}
      {workflows.isSuccess && workflows.data.data.length === 0 && (
        <EmptyState
          text={t(hasFilter ? "workflows.empty_found" : "workflows.empty")}
          action={hasFilter ? undefined : create}
          guide="workflows"
        />
      )}
      {workflows.isSuccess && workflows.data.data.length > 0 && (
        <>
          <WorkflowTable workflows={workflows.data.data} />
          <PageLinks
            pagination={workflows.data.pagination}
            page={page}
            hrefOfPage={(number) => hrefWith({ page: number === 1 ? undefined : `${number}` })}
          />
        </>
      )}
    </div>
  );
}
