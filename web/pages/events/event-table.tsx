import type { ReactNode } from "react";
import { Link } from "wouter";
import { type EventRecord, eventPath } from "../../api/events.ts";
import { visibleJson } from "../../components/json-lines.ts";
import tableClasses from "../../components/table.module.css";
import { Table } from "../../components/table.tsx";
import { ExactTime } from "../../components/time.tsx";
import { useTranslation } from "../../i18n/use-translation.ts";
import { EventState } from "./event-state.tsx";
import classes from "./events.module.css";

/** Characters of the data that a row can show. */
const PREVIEW_LENGTH = 160;

export function EventTable({ events }: { readonly events: readonly EventRecord[] }): ReactNode {
  const { t } = useTranslation();
  return (
    <Table
      label={t("events.title")}
      order="-created_at"
      columns={[
        { name: t("events.topic") },
        { name: t("events.state") },
        { name: t("events.workflow_name") },
        { name: t("events.source") },
        { name: t("events.data") },
        { name: t("events.time"), sort: "created_at" },
      ]}
    >
      {events.map((event) => (
        <tr key={event.event_id}>
          <th scope="row">
            <Link href={eventPath(event.event_id)} className={tableClasses.link} dir="auto">
              {event.topic}
            </Link>
          </th>
          <td>
            <EventState event={event} />
          </td>
          <td className={tableClasses.text} dir="auto">
            {event.workflow_name}
          </td>
          <td className={tableClasses.muted}>{event.source}</td>
          <td className={classes.data} dir="ltr">
            {event.data === "{}" ? "" : visibleJson(event.data.slice(0, PREVIEW_LENGTH))}
          </td>
          <td className={tableClasses.number}>
            <ExactTime value={event.created_at} />
          </td>
        </tr>
      ))}
    </Table>
  );
}
