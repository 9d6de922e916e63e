import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { type ReactNode, useMemo } from "react";
import { Link } from "wouter";
import { dataOf } from "../../../client/api.ts";
import { api } from "../../api/client.ts";
import { Button } from "../../components/button.tsx";
import { ErrorState } from "../../components/error-state.tsx";
import { useQueryParameters } from "../../components/query-parameters.ts";
import { Time } from "../../components/time.tsx";
import { useTranslation } from "../../i18n/use-translation.ts";
import { lineDiff } from "./line-diff.ts";
import classes from "./revisions.module.css";

const PAGE_SIZE = 20;

interface Props {
  readonly name: string;
  /** What is in the editor. */
  readonly text: string;
  /** Puts a text into the editor. */
  readonly onRestore: (text: string, revision: number) => void;
}

/** The stored revisions of a workflow, newest first, and what has changed since the chosen one. */
export function Revisions({ name, text, onRestore }: Props): ReactNode {
  const { t } = useTranslation();
  const [parameters, hrefWith] = useQueryParameters();
  const chosen = Number(parameters.get("revision") ?? 0);
  const revisions = useInfiniteQuery({
    queryKey: ["workflow", name, "revisions"],
    initialPageParam: 0,
    queryFn: ({ signal, pageParam }) =>
      dataOf(
        api.GET("/automation/workflows/{name}/revisions", {
          params: { path: { name }, query: { offset: pageParam, limit: PAGE_SIZE } },
          signal,
        }),
      ),
    getNextPageParam: ({ pagination: { offset, total } }) =>
      offset + PAGE_SIZE < total ? offset + PAGE_SIZE : undefined,
  });
  if (revisions.isError)
    return <ErrorState error={revisions.error} onRetry={() => void revisions.refetch()} />;
  const all = revisions.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <>
      <ol className={classes.revisions} aria-label={t("workflow.panel_revisions")}>
        {all.map(({ revision, created_at }) => (
          <li key={revision}>
            <Link
              href={hrefWith({ revision: `${revision}` })}
              aria-current={revision === chosen ? "true" : undefined}
            >
              <span>{t("workflow.revision", { revision })}</span>
              <Time value={created_at} />
            </Link>
          </li>
        ))}
      </ol>
      {revisions.hasNextPage && (
        <Button
          variant="subtle"
          size="compact-sm"
          loading={revisions.isFetchingNextPage}
          onClick={() => void revisions.fetchNextPage()}
        >
          {t("app.more")}
        </Button>
      )}
      {chosen > 0 && <Changes name={name} revision={chosen} text={text} onRestore={onRestore} />}
    </>
  );
}

function Changes({ name, revision, text, onRestore }: Props & { readonly revision: number }): ReactNode {
  const { t } = useTranslation();
  const stored = useQuery({
    queryKey: ["workflow", name, "revision", revision],
    queryFn: ({ signal }) =>
      dataOf(
        api.GET("/automation/workflows/{name}", { params: { path: { name }, query: { revision } }, signal }),
      ),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const before = stored.data?.data.yaml;
  const parts = useMemo(() => (before === undefined ? [] : lineDiff(before, text)), [before, text]);
  if (stored.isError) return <ErrorState error={stored.error} onRetry={() => void stored.refetch()} />;
  if (before === undefined) return null;
  return (
    <section className={classes.changes} aria-label={t("workflow.changes_since", { revision })}>
      <header>
        <h2>{t("workflow.changes_since", { revision })}</h2>
        {before !== text && (
          <Button variant="default" size="compact-sm" onClick={() => onRestore(before, revision)}>
            {t("workflow.restore")}
          </Button>
        )}
      </header>
      {before === text && <p className={classes.hidden}>{t("workflow.no_changes")}</p>}
      {before !== text &&
        parts.map((part, index) =>
          "hidden" in part ? (
            // biome-ignore lint/suspicious/noArrayIndexKey: the parts of two texts never change
            <p key={index} className={classes.hidden}>
              {t("workflow.same_lines", { count: part.hidden })}
            </p>
          ) : (
            // biome-ignore lint/suspicious/noArrayIndexKey: as above
            <pre key={index} className={classes.lines}>
              {part.lines.map(({ kind, text: line }, position) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: as above
                <Line key={position} kind={kind} text={line} />
              ))}
            </pre>
          ),
        )}
    </section>
  );
}

/** A line with a sign, so that the color is not all that tells what happened to it. */
function Line({
  kind,
  text,
}: {
  readonly kind: "same" | "added" | "removed";
  readonly text: string;
}): ReactNode {
  const content = `${{ same: " ", added: "+", removed: "−" }[kind]} ${text}\n`;
  if (kind === "added") return <ins>{content}</ins>;
  if (kind === "removed") return <del>{content}</del>;
  return <span>{content}</span>;
}
