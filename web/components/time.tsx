import type { ReactNode } from "react";
import { useTranslation } from "../i18n/use-translation.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** From this age on, the date is shorter than the number of days. */
const RELATIVE_MAX_MS = 7 * DAY_MS;

/** Formats by language: to create one takes longer than to use it. */
function formats<Format>(create: (language: string) => Format): (language: string) => Format {
  const created = new Map<string, Format>();
  return (language) => {
    const known = created.get(language) ?? create(language);
    created.set(language, known);
    return known;
  };
}

const relativeFormat = formats((language) => new Intl.RelativeTimeFormat(language, { numeric: "auto" }));
const dateFormat = formats((language) => new Intl.DateTimeFormat(language, { dateStyle: "medium" }));
const exactFormat = formats(
  (language) => new Intl.DateTimeFormat(language, { dateStyle: "full", timeStyle: "medium" }),
);
const decimalFormat = formats((language) => new Intl.NumberFormat(language, { maximumFractionDigits: 1 }));

/** Such as "3 minutes ago"; the date from a week on. */
export function relativeTime(time: number, now: number, language: string): string {
  const age = now - time;
  if (Math.abs(age) >= RELATIVE_MAX_MS) return dateFormat(language).format(time);
  const [unit, length] =
    Math.abs(age) < MINUTE_MS
      ? (["second", SECOND_MS] as const)
      : Math.abs(age) < HOUR_MS
        ? (["minute", MINUTE_MS] as const)
        : Math.abs(age) < DAY_MS
          ? (["hour", HOUR_MS] as const)
          : (["day", DAY_MS] as const);
  return relativeFormat(language).format(-Math.round(age / length), unit);
}

interface TimeProps {
  /** ISO 8601; null if it has not happened. */
  readonly value: string | null;
}

/** A relative time, with the exact one in its tooltip. */
export function Time({ value }: TimeProps): ReactNode {
  const { t, i18n } = useTranslation();
  if (value === null || value === "") return <span data-time>{t("time.never")}</span>;
  const time = Date.parse(value);
  return (
    <time dateTime={value} title={exactFormat(i18n.language).format(time)}>
      {relativeTime(time, Date.now(), i18n.language)}
    </time>
  );
}

/** The time of day to the millisecond, with the date unless it is today, and the relative time in its tooltip. */
export function ExactTime({ value }: { readonly value: string }): ReactNode {
  const { i18n } = useTranslation();
  const time = new Date(value);
  const now = new Date();
  const isToday = time.toDateString() === now.toDateString();
  const text = new Intl.DateTimeFormat(i18n.language, {
    ...(isToday ? {} : { day: "numeric", month: "short", year: "numeric" }),
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    fractionalSecondDigits: 3,
    hourCycle: "h23",
  }).format(time);
  return (
    <time dateTime={value} title={relativeTime(time.getTime(), now.getTime(), i18n.language)}>
      {text}
    </time>
  );
}

const PADDED = 2;

/** Such as `340 ms`, `1.2 s`, `3 m 04 s`, `2 h 05 m`. */
export function formatDuration(ms: number, language: string): string {
  if (ms < SECOND_MS) return `${Math.round(ms)} ms`;
  if (ms < MINUTE_MS) return `${decimalFormat(language).format(ms / SECOND_MS)} s`;
  const pad = (value: number): string => String(Math.floor(value)).padStart(PADDED, "0");
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} m ${pad((ms % MINUTE_MS) / SECOND_MS)} s`;
  return `${Math.floor(ms / HOUR_MS)} h ${pad((ms % HOUR_MS) / MINUTE_MS)} m`;
}
