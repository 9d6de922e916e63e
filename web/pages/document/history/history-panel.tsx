import { useInfiniteQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { dataOf } from "../../../../client/api.ts";
import { api } from "../../../api/client.ts";
import { Button } from "../../../components/button.tsx";
import { ErrorState } from "../../../components/error-state.tsx";
import { useQueryParameters } from "../../../components/query-parameters.ts";
import { Time } from "../../../components/time.tsx";
import { useTranslation } from "../../../i18n/use-translation.ts";
import classes from "./history.module.css";

const PAGE_SIZE = 30;

interface Props {
  readonly id: string;
}

/** The versions of a document, latest first. The chosen one is in the address. */
export function HistoryPanel({ id }: Props): ReactNode {
  const { t } = useTranslation();
  const [parameters, hrefWith] = useQueryParameters();
  const chosen = parameters.get("version");
  const versions = useInfiniteQuery({
    queryKey: ["document", id, "versions"],
    initialPageParam: "",
    queryFn: ({ signal, pageParam }) => {
      const query = { page_size: PAGE_SIZE, ...(pageParam === "" ? {} : { version_id: pageParam }) };
      return dataOf(
        api.GET("/api/v1.0/documents/{id}/versions", { params: { path: { id }, query }, signal }),
      );
    },
    getNextPageParam: (page) => (page.is_truncated ? page.next_version_id_marker : undefined),
  });
  if (versions.isError) return <ErrorState error={versions.error} onRetry={() => void versions.refetch()} />;
  const all = versions.data?.pages.flatMap((page) => page.versions) ?? [];
  return (
    <>
      <ol className={classes.versions} aria-busy={versions.isPending}>
        <li>
          <Link href={hrefWith({ version: undefined })} aria-current={chosen === null ? "true" : undefined}>
            {t("history.current")}
          </Link>
        </li>
        {all.map(({ version_id, last_modified }) => (
          <li key={version_id}>
            <Link
              href={hrefWith({ version: version_id })}
              aria-current={chosen === version_id ? "true" : undefined}
            >
              <Time value={last_modified} />
            </Link>
          </li>
        ))}
      </ol>
      {versions.isSuccess && all.length === 0 && <p className={classes.note}>{t("history.empty")}</p>}
      {versions.hasNextPage && (
        <Button
          variant="default"
          loading={versions.isFetchingNextPage}
          onClick={() => void versions.fetchNextPage()}
        >
          {t("app.more")}
        </Button>
      )}
    </>
  );
}
