import { CronExpressionParser } from "cron-parser";

/** Of an EventBridge schedule expression, in characters. */
const EXPRESSION_CHARACTERS = 256;
const DAYS_OF_MONTHS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const DAYS_OF_WEEK = 7;

/** Operators beyond lists, ranges and steps. */
const NO_LIST = /[#?]|(?:^|[\d,])L|H/i;

interface Fields {
  readonly minute: readonly number[];
  readonly hour: readonly number[];
  readonly dayOfMonth: readonly number[];
  readonly month: readonly number[];
  /** Sunday is 0. */
  readonly dayOfWeek: readonly number[];
  /** Neither day field was a bare `*`: either of them is enough. */
  readonly eitherDay: boolean;
  readonly anyDayOfMonth: boolean;
}

const NAMES = ["minute", "hour", "dayOfMonth", "month", "dayOfWeek"] as const;

/** The values of one field, item by item, as cron-parser takes no list whose items overlap. */
function readField(name: (typeof NAMES)[number], field: string): number[] {
  const at = NAMES.indexOf(name);
  const values = field.split(",").flatMap((item) => {
    const alone = NAMES.map((_, other) => (other === at ? item : "*")).join(" ");
    return CronExpressionParser.parse(`0 ${alone}`).fields[name].values.map(Number);
  });
  const distinct = new Set(name === "dayOfWeek" ? values.map((day) => day % DAYS_OF_WEEK) : values);
  return [...distinct].sort((a, b) => a - b);
}

/** What cron-parser makes of an expression; undefined for other than five fields that can be written as lists. */
function readFields(expression: string): Fields | undefined {
  const parts = expression.trim().split(/\s+/);
  const [minute = "", hour = "", dayOfMonth = "", month = "", dayOfWeek = ""] = parts;
  // The last day of a month and the n-th weekday have no list of numbers.
  if (parts.length !== NAMES.length || parts.some((part) => NO_LIST.test(withoutNames(part))))
    return undefined;
  try {
    return {
      minute: readField("minute", minute),
      hour: readField("hour", hour),
      dayOfMonth: readField("dayOfMonth", dayOfMonth),
      month: readField("month", month),
      dayOfWeek: readField("dayOfWeek", dayOfWeek),
      eitherDay: dayOfMonth !== "*" && dayOfWeek !== "*",
      anyDayOfMonth: dayOfMonth === "*",
    };
  } catch {
    return undefined;
  }
}

/** The part without names, whose letters are no operators. */
function withoutNames(part: string): string {
  return part.replace(/[a-z]{3}/gi, "1");
}

/** `*` for all of `count` values, a range where they follow each other, else a list: what EventBridge documents. */
function writeField(values: readonly number[], count: number): string {
  if (values.length === count) return "*";
  const [first = 0] = values;
  const last = values.at(-1) ?? first;
  const follow = values.length > 2 && last - first === values.length - 1;
  return follow ? `${first}-${last}` : values.join(",");
}

function hasSuchDay({ month, dayOfMonth }: Fields): boolean {
  return month.some((number) => dayOfMonth.some((day) => day <= (DAYS_OF_MONTHS[number - 1] ?? 0)));
}

/**
 * The EventBridge expressions (six fields, UTC) that together fire when the five-field one does: two where both of
 * its day fields are set, as cron takes either and EventBridge has one. None where EventBridge cannot say it.
 */
export function toAwsCron(expression: string): string[] {
  const fields = readFields(expression);
  if (fields === undefined) return [];
  const time = `${writeField(fields.minute, 60)} ${writeField(fields.hour, 24)}`;
  const month = writeField(fields.month, 12);
  const weekdays = fields.dayOfWeek.map((day) => day + 1);
  const byMonth = `cron(${time} ${writeField(fields.dayOfMonth, 31)} ${month} ? *)`;
  const byWeek = `cron(${time} ? ${month} ${writeField(weekdays, DAYS_OF_WEEK)} *)`;
  const monthDays = hasSuchDay(fields) ? [byMonth] : [];
  const said = fields.eitherDay ? [...monthDays, byWeek] : fields.anyDayOfMonth ? [byWeek] : monthDays;
  return said.every((one) => one.length <= EXPRESSION_CHARACTERS) ? said.map(everyDay) : [];
}

/** EventBridge's usual way to say each day. */
function everyDay(expression: string): string {
  return expression.replace(/ \? (\S+) \* \*\)$/, " * $1 ? *)");
}

const AWS_CRON = /^cron\((\S+) (\S+) (\S+) (\S+) (\S+) \*\)$/;
const NOT_IN_FIVE_FIELDS = /[L#W]/;
const WEEKDAY_NUMBER = /(?<![/\d])\d+/g;

/**
 * The five-field expression (UTC) that fires when the EventBridge one does; undefined where five fields cannot say
 * it (a year, the last day, the nearest or n-th weekday) and for what is no EventBridge cron expression.
 */
export function fromAwsCron(expression: string): string | undefined {
  const found = AWS_CRON.exec(expression);
  if (found === null) return undefined;
  const [, minute = "", hour = "", dayOfMonth = "", month = "", dayOfWeek = ""] = found;
  // EventBridge wants a `?` in one of the two, and in one alone.
  if ((dayOfMonth === "?") === (dayOfWeek === "?")) return undefined;
  const weekday = dayOfWeek === "?" ? "*" : fromWeekday(dayOfWeek);
  if (weekday === undefined) return undefined;
  const written = [minute, hour, dayOfMonth === "?" ? "*" : dayOfMonth, month, weekday].join(" ");
  if (NOT_IN_FIVE_FIELDS.test(written.replace(/[A-Z]{3}/gi, ""))) return undefined;
  return readFields(written) === undefined ? undefined : written;
}

/** Sunday as 0 instead of 1; undefined for numbers that name no day. */
function fromWeekday(field: string): string | undefined {
  const days = field.match(WEEKDAY_NUMBER) ?? [];
  if (days.some((day) => Number(day) < 1 || Number(day) > DAYS_OF_WEEK)) return undefined;
  return field.replace(WEEKDAY_NUMBER, (day) => String(Number(day) - 1));
}
