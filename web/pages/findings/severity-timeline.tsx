import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { dataOf } from "../../../client/api.ts";
import { api } from "../../api/client.ts";
import { ChartBars } from "../../components/chart-bars.tsx";
import { ErrorState } from "../../components/error-state.tsx";
import { useTranslation } from "../../i18n/use-translation.ts";

const DAYS = 60;
/** Informational findings and other severities are one series. */
const SERIES = ["critical", "high", "medium", "low", "other"] as const;

/** How many vulnerabilities of each severity were found on each of the last days. */
export function SeverityTimeline({ workspace }: { readonly workspace: string }): ReactNode {
  const { t, i18n } = useTranslation();
  const query = { days: DAYS, ...(workspace === "" ? {} : { workspace }) };
  const timeline = useQuery({
    queryKey: ["vulnerabilities", "timeline", query],
    queryFn: ({ signal }) =>
      dataOf(api.GET("/automation/vulnerabilities/timeline", { params: { query }, signal })),
    placeholderData: keepPreviousData,
  });
  if (timeline.isError) return <ErrorState error={timeline.error} onRetry={() => void timeline.refetch()} />;
  if (timeline.data === undefined) return null;
  const { days } = timeline.data.data;
  if (days.every(({ by_severity }) => Object.keys(by_severity).length === 0)) return null;
  const format = new Intl.DateTimeFormat(i18n.language, { day: "numeric", month: "short", timeZone: "UTC" });
  return (
    <ChartBars
      title={t("findings.timeline", { days: DAYS })}
      series={SERIES.map((color) => ({ color, name: t(`severity.${color}`) }))}
      bars={days.map(({ date, by_severity }) => ({
        name: format.format(new Date(`${date}T00:00:00Z`)),
        values: SERIES.map((name) =>
          name === "other"
            ? (by_severity["other"] ?? 0) + (by_severity["info"] ?? 0)
            : (by_severity[name] ?? 0),
        ),
      }))}
    />
  );
}
