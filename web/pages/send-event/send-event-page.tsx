import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { dataOf } from "../../../client/api.ts";
import { api } from "../../api/client.ts";
import { EVENTS } from "../../api/events.ts";
import { ErrorState } from "../../components/error-state.tsx";
import classes from "../../components/page.module.css";
import { PageHeader } from "../../components/page-header.tsx";
import { useQueryParameters } from "../../components/query-parameters.ts";
import { useTranslation } from "../../i18n/use-translation.ts";
import { SendEventForm } from "./send-event-form.tsx";

/** Sends an event to the log. With `from` in the address it begins with the topic and the data of an event. */
export function SendEventPage(): ReactNode {
  const { t } = useTranslation();
  const [parameters] = useQueryParameters();
  const from = parameters.get("from") ?? "";
  const event = useQuery({
    queryKey: [EVENTS, "one", from],
    queryFn: ({ signal }) =>
      dataOf(api.GET("/automation/events/{id}", { params: { path: { id: from } }, signal })),
    enabled: from !== "",
  });
  const first = from === "" ? { topic: parameters.get("topic") ?? "", data: "{}" } : event.data?.data;
  return (
    <div className={classes.page}>
      <PageHeader title={t("send_event.title")} />
      {event.isError && <ErrorState error={event.error} onRetry={() => void event.refetch()} />}
      {first !== undefined && <SendEventForm topic={first.topic} data={first.data} />}
    </div>
  );
}
