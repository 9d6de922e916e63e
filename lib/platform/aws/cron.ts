/** Maximum length of an EventBridge schedule expression, in characters. */
const EXPRESSION_CHARACTERS = 256;
const DAYS_OF_MONTHS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const DAYS_OF_WEEK = 7;
const MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const WEEKDAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

interface FieldRange {
  readonly min: number;
  readonly max: number;
  /** Names of the values, starting at `min`. */
  readonly names: readonly string[];
}

const MINUTE: FieldRange = { min: 0, max: 59, names: [] };
const HOUR: FieldRange = { min: 0, max: 23, names: [] };
const DAY_OF_MONTH: FieldRange = { min: 1, max: 31, names: [] };
const MONTH: FieldRange = { min: 1, max: 12, names: MONTHS };
const DAY_OF_WEEK: FieldRange = { min: 0, max: DAYS_OF_WEEK - 1, names: WEEKDAYS };
const FIELDS = 5;

interface Fields {
  readonly minute: readonly number[];
  readonly hour: readonly number[];
  readonly dayOfMonth: readonly number[];
  readonly month: readonly number[];
  /** Sunday is 0. */
  readonly dayOfWeek: readonly number[];
  /** Neither day field is a bare `*`: the expression fires if either matches. */
  readonly eitherDay: boolean;
  readonly anyDayOfMonth: boolean;
}

const ITEM = /^(?:\*|(?<from>[A-Z0-9]+)(?:-(?<to>[A-Z0-9]+))?)(?:\/(?<step>\d{1,2}))?$/;

/**
 * The values of one field: a list of values, ranges and steps. Throws RangeError for other syntax. Implemented here
 * because the cron library, with its date library, would be in the bundle of every function.
 */
function readField(range: FieldRange, field: string): number[] {
  const values = new Set<number>();
  for (const item of field.toUpperCase().split(",")) {
    const found = ITEM.exec(item)?.groups;
    if (found === undefined) throw new RangeError(item);
    const from = found.from === undefined ? range.min : readValue(range, found.from);
    // `*` and `5/15` extend to the end of the field.
    const open = found.from === undefined || found.step !== undefined ? Math.max(from, range.max) : from;
    const to = found.to === undefined ? open : readValue(range, found.to);
    const step = found.step === undefined ? 1 : Number(found.step);
    if (from > to || step < 1) throw new RangeError(item);
    for (let value = from; value <= to; value += step)
      values.add(range === DAY_OF_WEEK ? value % DAYS_OF_WEEK : value);
  }
  return [...values].sort((a, b) => a - b);
}

function readValue(range: FieldRange, text: string): number {
  const named = range.names.indexOf(text);
  const value = named < 0 ? Number(text) : range.min + named;
  // Sunday is 0 or 7.
  const max = range === DAY_OF_WEEK ? DAYS_OF_WEEK : range.max;
  if (!Number.isInteger(value) || value < range.min || value > max) throw new RangeError(text);
  return value;
}

/**
 * Undefined unless the expression has five fields that can be written as lists; the last day of a month has no number.
 */
function readFields(expression: string): Fields | undefined {
  const parts = expression.trim().split(/\s+/);
  const [minute = "", hour = "", dayOfMonth = "", month = "", dayOfWeek = ""] = parts;
  if (parts.length !== FIELDS) return undefined;
  try {
    return {
      minute: readField(MINUTE, minute),
      hour: readField(HOUR, hour),
      dayOfMonth: readField(DAY_OF_MONTH, dayOfMonth),
      month: readField(MONTH, month),
      dayOfWeek: readField(DAY_OF_WEEK, dayOfWeek),
      eitherDay: dayOfMonth !== "*" && dayOfWeek !== "*",
      anyDayOfMonth: dayOfMonth === "*",
    };
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** `*` for all `count` values, a range if they are consecutive, else a list: the syntax that EventBridge documents. */
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
 * The EventBridge expressions (six fields, UTC) that together fire when the five-field expression does: two if both day
 * fields are set, because cron matches either of them and EventBridge accepts only one. Empty if EventBridge cannot
 * express it.
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

/** EventBridge's usual notation for every day. */
function everyDay(expression: string): string {
  return expression.replace(/ \? (\S+) \* \*\)$/, " * $1 ? *)");
}

const AWS_CRON = /^cron\((\S+) (\S+) (\S+) (\S+) (\S+) \*\)$/;
const NOT_IN_FIVE_FIELDS = /[L#W]/;
const WEEKDAY_NUMBER = /(?<![/\d])\d+/g;

/**
 * The five-field expression (UTC) that fires when the EventBridge expression does; undefined if five fields cannot
 * express it (a year, the last day, the nearest or n-th weekday) and for invalid expressions.
 */
export function fromAwsCron(expression: string): string | undefined {
  const found = AWS_CRON.exec(expression);
  if (found === null) return undefined;
  const [, minute = "", hour = "", dayOfMonth = "", month = "", dayOfWeek = ""] = found;
  // EventBridge requires a `?` in exactly one of the two.
  if ((dayOfMonth === "?") === (dayOfWeek === "?")) return undefined;
  const weekday = dayOfWeek === "?" ? "*" : fromWeekday(dayOfWeek);
  if (weekday === undefined) return undefined;
  const written = [minute, hour, dayOfMonth === "?" ? "*" : dayOfMonth, month, weekday].join(" ");
  if (NOT_IN_FIVE_FIELDS.test(written.replace(/[A-Z]{3}/gi, ""))) return undefined;
  return readFields(written) === undefined ? undefined : written;
}

/** Converts Sunday from 1 to 0; undefined for numbers that are not weekdays. */
function fromWeekday(field: string): string | undefined {
  const days = field.match(WEEKDAY_NUMBER) ?? [];
  if (days.some((day) => Number(day) < 1 || Number(day) > DAYS_OF_WEEK)) return undefined;
  return field.replace(WEEKDAY_NUMBER, (day) => String(Number(day) - 1));
}
