import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { dataOf } from "../../../client/api.ts";
import { api } from "../../api/client.ts";
import { documentPath } from "../../api/documents.ts";
import { EVENTS, type EventDetail, eventPath } from "../../api/events.ts";
import { workflowPath } from "../../api/workflows.ts";
import { Fact, Facts } from "../../components/facts.tsx";
import { ExactTime } from "../../components/time.tsx";
import { useTranslation } from "../../i18n/use-translation.ts";
import { EventState } from "../events/event-state.tsx";

/** Where an event came from and what it is about, with links. */
export function EventFacts({ event }: { readonly event: EventDetail }): ReactNode {
  const { t } = useTranslation();
  const document = documentOf(event);
  const { name, topic, source, workflow_name, run_id, workspace, event_id } = event;
  return (
    <>
      <EventState event={event} />
      <ExactTime value={event.created_at} />
      <Facts>
        {name !== topic && <Fact name={t("events.name")}>{name}</Fact>}
        <Fact name={t("events.source")}>{source}</Fact>
        {document !== undefined && (
          <Fact name={t("event.document")}>
            <Link href={documentPath(document)}>{document.title ?? t("app.untitled")}</Link>
          </Fact>
        )}
        {workflow_name !== "" && (
          <Fact name={t("events.workflow_name")}>
            <Link href={workflowPath(workflow_name)}>{workflow_name}</Link>
          </Fact>
        )}
        {run_id !== "" && (
          <Fact name={t("events.run_id")}>
            <Link href={`/runs/${encodeURIComponent(run_id)}`}>
              <code>{run_id}</code>
            </Link>
          </Fact>
        )}
        {workspace !== "" && (
          <Fact name={t("events.workspace")}>
            <Link href={`/events?workspace=${encodeURIComponent(workspace)}`}>{workspace}</Link>
          </Fact>
        )}
        {event.hop > 0 && <RootCause id={event.root_cause} />}
        <Fact name={t("event.id")}>
          <code>{event_id}</code>
        </Fact>
      </Facts>
    </>
  );
}

/** The document that an event of a document is about. */
function documentOf({ topic, data }: EventDetail): { id: string; title: string | null } | undefined {
  if (!topic.startsWith("documents.")) return undefined;
  const { document_id: id, title = null } = JSON.parse(data) as {
    document_id?: string;
    title?: string | null;
  };
  return id === undefined ? undefined : { id, title };
}

/** The event or run from outside that an event goes back to. */
function RootCause({ id }: { readonly id: string }): ReactNode {
  const { t } = useTranslation();
  const event = useQuery({
    queryKey: [EVENTS, "one", id],
    queryFn: ({ signal }) => dataOf(api.GET("/automation/events/{id}", { params: { path: { id } }, signal })),
  });
  if (event.isPending) return null;
  return (
    <Fact name={t("event.root_cause")}>
      {event.data === undefined ? (
        <Link href={`/runs/${encodeURIComponent(id)}`}>
          <code>{id}</code>
        </Link>
      ) : (
        <Link href={eventPath(id)}>{event.data.data.topic}</Link>
      )}
    </Fact>
  );
}
