import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { dataOf } from "../../../client/api.ts";
import { api } from "../../api/client.ts";
import { EVENTS, type EventDetail, eventPath } from "../../api/events.ts";
import { refusalOf } from "../../api/failures.ts";
import { ButtonLink } from "../../components/button.tsx";
import { CopyCommand } from "../../components/copy-command.tsx";
import { CopyTextButton } from "../../components/copy-text-button.tsx";
import { ErrorState } from "../../components/error-state.tsx";
import { JsonView } from "../../components/json-view.tsx";
import pageClasses from "../../components/page.module.css";
import { PageHeader } from "../../components/page-header.tsx";
import { useTranslation } from "../../i18n/use-translation.ts";
import { StatusPage } from "../../shell/status-page.tsx";
import classes from "./event.module.css";
import { EventFacts } from "./event-facts.tsx";
import { MatchList } from "./match-list.tsx";

/** How often an event is read again until its workflows have started, milliseconds. */
const REFRESH_MS = 1_000;

/** One event: its data, which triggers it matched and why others did not match, and the runs that it started. */
export function EventPage({ id }: { readonly id: string }): ReactNode {
  const { t } = useTranslation();
  const event = useQuery({
    queryKey: [EVENTS, "one", id],
    queryFn: ({ signal }) => dataOf(api.GET("/automation/events/{id}", { params: { path: { id } }, signal })),
    refetchInterval: ({ state }) => (state.data?.data.processed === false ? REFRESH_MS : false),
  });
  const refusal = refusalOf(event.error);
  if (refusal !== undefined) return <StatusPage kind={refusal} />;
  if (event.isPending) return null;
  if (event.data === undefined)
    return (
      <div className={pageClasses.page}>
        <ErrorState error={event.error} onRetry={() => void event.refetch()} />
      </div>
    );
  const { data } = event.data;
  return (
    <div className={pageClasses.page}>
      <PageHeader
        title={data.topic}
        facts={<EventFacts event={data} />}
        action={
          <>
            <CopyCommand request={{ path: `/automation${eventPath(data.event_id)}` }} />
            <ButtonLink href={`/send-event?from=${data.event_id}`} variant="default">
              {t("event.send_again")}
            </ButtonLink>
          </>
        }
      />
      {data.error !== "" && (
        <section className={classes.error}>
          <h2>{t("run.error")}</h2>
          <pre>{data.error}</pre>
        </section>
      )}
      <div className={classes.parts}>
        <EventData event={data} />
        <MatchList eventId={data.event_id} />
      </div>
    </div>
  );
}

function EventData({ event }: { readonly event: EventDetail }): ReactNode {
  const { t } = useTranslation();
  return (
    <section className={classes.part}>
      <header className={classes.heading}>
        <h2>{t("events.data")}</h2>
        {event.data_type !== "" && <span>{event.data_type}</span>}
        <CopyTextButton text={event.data} label={t("event.copy_data")} />
      </header>
      <JsonView label={t("events.data")} text={event.data} />
    </section>
  );
}
