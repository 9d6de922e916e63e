import * as z from "zod";

const ZONED = /^\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/i;
const LOCAL = /^\d{4}-\d{2}-\d{2}(?:[ T]\d{2}:\d{2}:\d{2})?$/;
const SECONDS = /^\d{1,11}$/;

/**
 * A time in a query, as ISO 8601: RFC 3339, seconds since the epoch, a date, or a date and a time (UTC). Reference
 * 1.6.
 */
export const timeQuery = z.string("is required").transform(toTime);

/** A time that need not be given; empty counts as not given. */
export const optionalTimeQuery = z
  .string()
  .transform((text, context) => (text === "" ? undefined : toTime(text, context)))
  .optional();

function toTime(text: string, context: z.core.$RefinementCtx): string {
  const time = millisecondsOf(text.trim());
  if (Number.isFinite(time)) return new Date(time).toISOString();
  context.addIssue({
    code: "custom",
    message: "must be a time: RFC 3339, seconds, or YYYY-MM-DD[ HH:MM:SS]",
  });
  return z.NEVER;
}

function millisecondsOf(text: string): number {
  if (SECONDS.test(text)) return Number(text) * 1000;
  if (ZONED.test(text)) return Date.parse(text.replace(" ", "T").toUpperCase());
  if (!LOCAL.test(text)) return Number.NaN;
  const [date = "", time = "00:00:00"] = text.split(/[ T]/);
  const parsed = Date.parse(`${date}T${time}Z`);
  // Rejects dates that do not exist, such as February 31.
  return Number.isFinite(parsed) && new Date(parsed).toISOString().startsWith(date) ? parsed : Number.NaN;
}
