import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import type { EventRecord } from "../../api/events.ts";
import { State } from "../../components/state.tsx";

/** Whether the workflows of an event have started, and whether something prevented it. */
export function EventState({
  event,
}: {
  readonly event: Pick<EventRecord, "processed" | "error">;
}): ReactNode {
  const { t } = useTranslation();
  if (event.error !== "") return <State name="failed" label={t("events.failed")} />;
  if (event.processed) return <State name="completed" label={t("events.processed")} />;
  return <State name="pending" label={t("events.pending")} />;
}
