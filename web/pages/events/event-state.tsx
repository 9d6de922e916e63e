import type { ReactNode } from "react";
import type { EventRecord } from "../../api/events.ts";
import { State } from "../../components/state.tsx";
import { useTranslation } from "../../i18n/use-translation.ts";

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
