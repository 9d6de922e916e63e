/** Longest cron expression, characters. */
export const CRON_CHARACTERS = 256;

interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  /** Three-letter names; the first is the name of `min`. */
  readonly names: readonly string[];
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const SUNDAY_AGAIN = 7;

const FIELDS: readonly Field[] = [
  { name: "minute", min: 0, max: 59, names: [] },
  { name: "hour", min: 0, max: 23, names: [] },
  { name: "day of month", min: 1, max: 31, names: [] },
  { name: "month", min: 1, max: 12, names: MONTHS },
  { name: "day of week", min: 0, max: SUNDAY_AGAIN, names: WEEKDAYS },
];

const ITEM = /^(?:\*|(?<from>[a-z0-9]+)(?:-(?<to>[a-z0-9]+))?)(?:\/(?<step>\d{1,3}))?$/;

/**
 * Expands every field to a list of numbers (a `*` stays), with Sunday as 0: the forms on which all cron parsers agree.
 * Throws an `Error` that names the invalid field and the reason.
 */
export function expandCron(expression: string): string {
  if (expression.length > CRON_CHARACTERS) {
    throw new Error(`a cron expression must have at most ${CRON_CHARACTERS} characters`);
  }
  const parts = expression.trim().split(/\s+/);
  if (parts.length !== FIELDS.length || parts[0] === "") {
    const found = parts[0] === "" ? 0 : parts.length;
    throw new Error(`a cron expression must have five fields (minute hour day month weekday), not ${found}`);
  }
  return FIELDS.map((field, at) => writeOutField(field, (parts[at] ?? "").toLowerCase())).join(" ");
}

function writeOutField(field: Field, text: string): string {
  if (text === "*") return "*";
  const values = new Set<number>();
  for (const item of text.split(",")) {
    const found = ITEM.exec(item)?.groups;
    if (found === undefined) throw new Error(`${field.name}: cannot read "${item}"`);
    const last = field.max === SUNDAY_AGAIN ? SUNDAY_AGAIN - 1 : field.max;
    const from = found.from === undefined ? field.min : readValue(field, found.from);
    const to = found.to !== undefined ? readValue(field, found.to) : openEnd(found, from, last);
    if (from > to) throw new Error(`${field.name}: the start of the range "${item}" is after its end`);
    const step = found.step === undefined ? 1 : Number(found.step);
    if (step < 1 || step > field.max)
      throw new Error(`${field.name}: a step must be 1 to ${field.max}, not ${step}`);
    for (let value = from; value <= to; value += step) {
      values.add(field.max === SUNDAY_AGAIN ? value % SUNDAY_AGAIN : value);
    }
  }
  return [...values].sort((a, b) => a - b).join(",");
}

/** `*` and `5/15` extend to the end of the field; a single value is a range of one. */
function openEnd(found: Readonly<Record<string, string | undefined>>, from: number, last: number): number {
  return found.from === undefined || found.step !== undefined ? Math.max(from, last) : from;
}

function readValue(field: Field, text: string): number {
  const named = field.names.indexOf(text);
  if (named >= 0) return field.min + named;
  if (!/^\d{1,2}$/.test(text)) throw new Error(`${field.name}: cannot read "${text}"`);
  const value = Number(text);
  if (value < field.min || value > field.max) {
    throw new Error(`${field.name}: ${value} is outside ${field.min}-${field.max}`);
  }
  return value;
}
