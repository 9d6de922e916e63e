import type { ReactNode } from "react";
import { ApiFailure } from "../../../client/api.ts";
import { useCreateDocument } from "../../api/documents.ts";
import { queryClient } from "../../api/query-client.ts";
import { Button } from "../../components/button.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { ErrorState } from "../../components/error-state.tsx";
import { FilterField } from "../../components/filter-field.tsx";
import { FilterTabs } from "../../components/filter-tabs.tsx";
import { later } from "../../components/later.tsx";
import listClasses from "../../components/list.module.css";
import { ListEnd } from "../../components/list-end.tsx";
import classes from "../../components/page.module.css";
import { PageHeader } from "../../components/page-header.tsx";
import { useQueryParameters } from "../../components/query-parameters.ts";
import { useBusy } from "../../components/rest.ts";
import { useTranslation } from "../../i18n/use-translation.ts";
import { DocumentRow } from "./document-row.tsx";
import { documentsQuery, LISTS, type ListName, ORDERINGS, useDocuments } from "./lists.ts";

/* Loaded after the list. */
const ImportButton = later(async () => (await import("../../transfer/import-button.tsx")).ImportButton, {
  texts: ["transfer"],
  isLast: true,
  isOptional: true,
});

const Footer = later(async () => (await import("../../shell/footer.tsx")).Footer, {
  isLast: true,
  isOptional: true,
});

const LocalDocuments = later(async () => (await import("./local-documents.tsx")).LocalDocuments, {
  isOptional: true,
});

/** Reads the first page of the list without filters into the cache. */
export const prefetchDocuments = (): Promise<void> =>
  queryClient.prefetchInfiniteQuery(documentsQuery("all"));

const LIST_NAMES = Object.keys(LISTS) as ListName[];
const isListName = (name: string): name is ListName => Object.hasOwn(LISTS, name);

/** The documents of the user, in one of five lists. */
export function DocumentsPage(): ReactNode {
  const { t } = useTranslation();
  const [parameters, hrefWith, replace] = useQueryParameters();
  const named = parameters.get("list") ?? "";
  const list: ListName = isListName(named) ? named : "all";
  const q = LISTS[list].canFilter ? (parameters.get("q") ?? "") : "";
  const { canFilter, canSort } = LISTS[list];
  const ordering = canSort ? ORDERINGS.find((one) => one === parameters.get("sort")) : undefined;
  const documents = useDocuments(list, q, ordering);
  useBusy(documents.isPending);
  const create = useCreateDocument();
  const createButton = (
    <Button onClick={() => create.mutate()} loading={create.isPending}>
      {t("app.new_document")}
    </Button>
  );
  const rows = documents.data?.pages.flatMap(({ results }) => results) ?? [];
  const total = documents.data?.pages[0]?.count ?? 0;
  return (
    <div className={classes.page}>
      <PageHeader
        title={t("documents.title")}
        action={
          <div className={classes.buttons}>
            <ImportButton />
            {createButton}
          </div>
        }
      />
      <div className={classes.toolbar}>
        <FilterTabs
          label={t("documents.lists")}
          tabs={LIST_NAMES.map((name) => ({
            name: t(`documents.${name}`),
            href: hrefWith({ list: name === "all" ? undefined : name, q: undefined }),
            isCurrent: name === list,
          }))}
        />
        <div className={classes.buttons}>
          {canSort && (
            <select
              className={classes.sort}
              aria-label={t("documents.sort")}
              value={ordering ?? ORDERINGS[0]}
              onChange={({ currentTarget: { value } }) =>
                replace({ sort: value === ORDERINGS[0] ? undefined : value })
              }
            >
              {ORDERINGS.map((one) => (
                <option key={one} value={one}>
                  {t(`documents.sort_${one}`)}
                </option>
              ))}
            </select>
          )}
          {canFilter && (
            <FilterField
              label={t("documents.filter")}
              value={q}
              onChange={(text) => replace({ q: text === "" ? undefined : text })}
            />
          )}
        </div>
      </div>
      {documents.isError && <ErrorState error={documents.error} onRetry={() => void documents.refetch()} />}
      {documents.isError && !(documents.error instanceof ApiFailure) && <LocalDocuments />}
      {documents.isSuccess && rows.length === 0 && (
        <EmptyState
          text={t(q === "" ? `documents.empty_${list}` : "documents.empty_found")}
          action={q === "" && (list === "all" || list === "mine") && createButton}
          guide="documents-documents-and-trees"
        />
      )}
      {rows.length > 0 && (
        <>
          <ul className={listClasses.list} aria-label={t("documents.list_label", { count: total })}>
            {rows.map((document) => (
              <DocumentRow key={document.id} document={document} />
            ))}
          </ul>
          <ListEnd
            hasMore={documents.hasNextPage}
            isLoading={documents.isFetchingNextPage}
            onMore={() => void documents.fetchNextPage()}
          >
            {t("documents.end", { count: rows.length, total })}
          </ListEnd>
        </>
      )}
      {documents.isSuccess && !documents.hasNextPage && <Footer />}
    </div>
  );
}
