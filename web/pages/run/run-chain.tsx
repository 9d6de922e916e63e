import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { dataOf, type Schemas } from "../../../client/api.ts";
import { api } from "../../api/client.ts";
import { ErrorState } from "../../components/error-state.tsx";
import { State } from "../../components/state.tsx";
import { Time } from "../../components/time.tsx";
import { useTranslation } from "../../i18n/use-translation.ts";
import classes from "./chain.module.css";

type ChainRun = Schemas["ChainRun"];

interface Props {
  readonly id: string;
  /** Read again when it has changed. */
  readonly version: string;
}

/** What started a run, what it started, and the documents that it wrote. */
export function RunChain({ id, version }: Props): ReactNode {
  const { t } = useTranslation();
  const chain = useQuery({
    queryKey: ["run", id, "chain", version],
    queryFn: ({ signal }) =>
      dataOf(api.GET("/automation/runs/{id}/chain", { params: { path: { id } }, signal })),
    placeholderData: (previous) => previous,
  });
  if (chain.data === undefined)
    return chain.isError && <ErrorState error={chain.error} onRetry={() => void chain.refetch()} />;
  const { run, ancestors, started, documents, truncated } = chain.data.data;
  const path = [...ancestors.toReversed(), run];
  return (
    <div className={classes.chain}>
      <section>
        <h2>{t("chain.causes")}</h2>
        <ol className={classes.list}>
          {path.map((one, depth) => (
            <li key={one.run_id} style={{ paddingInlineStart: depth * 16 }}>
              <Cause run={one} />
              <ChainLink run={one} isCurrent={one.run_id === run.run_id} />
            </li>
          ))}
        </ol>
      </section>
      <section>
        <h2>{t("chain.started")}</h2>
        {started.length === 0 && <p className={classes.muted}>{t("chain.nothing_started")}</p>}
        <ol className={classes.list}>
          {started.map((one) => (
            <li key={one.run_id}>
              <Cause run={one} />
              <ChainLink run={one} isCurrent={false} />
            </li>
          ))}
        </ol>
        {truncated && <p className={classes.muted}>{t("chain.more")}</p>}
      </section>
      <section>
        <h2>{t("chain.documents")}</h2>
        {documents.length === 0 && <p className={classes.muted}>{t("chain.no_documents")}</p>}
        <ul className={classes.list}>
          {documents.map((document) => (
            <li key={document}>
              <Link href={`/d/${document}`} className={classes.link}>
                <DocumentTitle id={document} />
              </Link>
            </li>
          ))}
        </ul>
      </section>
    </div>
  );
}

/** What started a run: an event or a trigger, with a link to it. */
function Cause({ run: { cause, trigger_name, event, event_id } }: { readonly run: ChainRun }): ReactNode {
  const { t } = useTranslation();
  return (
    <span className={classes.cause}>
      {t(`chain.by_${cause}`)}
      {trigger_name !== "" && <code>{trigger_name}</code>}
      {event_id !== "" && (
        <Link href={`/events/${event_id}`} className={classes.link}>
          {event?.topic ?? event_id.slice(0, 8)}
        </Link>
      )}
    </span>
  );
}

interface ChainLinkProps {
  readonly run: ChainRun;
  readonly isCurrent: boolean;
}

function ChainLink({ run, isCurrent }: ChainLinkProps): ReactNode {
  return (
    <span className={classes.run}>
      <Link
        href={`/runs/${run.run_id}`}
        className={classes.link}
        aria-current={isCurrent ? "page" : undefined}
        dir="auto"
      >
        {run.workflow_name}
      </Link>
      <State name={run.status} />
      <span className={classes.muted} dir="auto">
        {run.target}
      </span>
      <span className={classes.muted}>
        <Time value={run.created_at} />
      </span>
    </span>
  );
}

/** The title of a document; its id if the user may not read it. */
function DocumentTitle({ id }: { readonly id: string }): ReactNode {
  const { t } = useTranslation();
  const document = useQuery({
    queryKey: ["documents", "title", id],
    queryFn: ({ signal }) =>
      dataOf(api.GET("/api/v1.0/documents/{id}", { params: { path: { id } }, signal })),
  });
  if (document.data === undefined) return id.slice(0, 8);
  return document.data.title ?? t("app.untitled");
}
