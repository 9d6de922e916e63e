import { type CronExpression, CronExpressionParser } from "cron-parser";
import { expandCron } from "./cron-fields.ts";

/** A formatter takes about 50 KB; IANA has about 600 names, not counting differences in case. */
const CACHED_ZONES = 256;

const IANA_NAME = /^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+)*$/;

const OFFSET = /GMT(?:(?<sign>[+-])(?<hours>\d{2}):(?<minutes>\d{2})(?::(?<seconds>\d{2}))?)?$/;

const SECOND_MS = 1_000;

const formatters = new Map<string, Intl.DateTimeFormat>();

/**
 * Offset of a zone from UTC at an instant, milliseconds. `timezone` is an IANA name. Throws an `Error` that names an
 * unknown zone.
 */
export function offsetAt(timezone: string, instantMs: number): number {
  if (timezone === "UTC") return 0;
  const text = formatterOf(timezone).format(instantMs);
  const found = OFFSET.exec(text)?.groups;
  if (found?.sign === undefined) return 0;
  const seconds =
    Number(found.hours) * 3_600 +
    Number(found.minutes) * 60 +
    (found.seconds === undefined ? 0 : Number(found.seconds));
  return (found.sign === "-" ? -seconds : seconds) * SECOND_MS;
}

function formatterOf(timezone: string): Intl.DateTimeFormat {
  const known = formatters.get(timezone);
  if (known !== undefined) return known;
  const made = makeFormatter(timezone);
  if (formatters.size >= CACHED_ZONES) formatters.clear();
  formatters.set(timezone, made);
  return made;
}

function makeFormatter(timezone: string): Intl.DateTimeFormat {
  try {
    if (!IANA_NAME.test(timezone)) throw new RangeError("not a name");
    return new Intl.DateTimeFormat("en-US", {
      timeZone: timezone,
      timeZoneName: "longOffset",
      year: "numeric",
    });
  } catch (cause) {
    throw new Error(`"${timezone.slice(0, 64)}" is not a time zone: use an IANA name such as Europe/Berlin`, {
      cause,
    });
  }
}

/** Parsing an expression costs about as much as ten fires; a service has few distinct expressions. */
const CACHED_EXPRESSIONS = 2_000;

/** Offset changes further away than this do not affect a fire. */
const NEAR_MS = 3 * 3_600_000;

const EVERY_HOUR = "*";

const ALL_HOURS = 24;

interface Schedule {
  /** Iterated in UTC: its times are local times of any zone. */
  readonly wall: CronExpression;
  readonly everyHour: boolean;
}

const cache = new Map<string, Schedule>();

/** Whether an expression of five fields and an IANA zone name can be scheduled. Seed: workflow 2.6. */
export function checkCron(
  expression: string,
  timezone: string,
): { ok: true } | { ok: false; message: string } {
  try {
    offsetAt(timezone, 0);
    read(expression);
    return { ok: true };
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.message : String(error) };
  }
}

/**
 * The first fire after a time; both in milliseconds since the epoch. When the clock is set forward, a fire in the
 * skipped hour is that much later (02:30 becomes 03:30). When it is set back, a fire in the repeated hour happens
 * once, or twice if the hour field is `*`. Throws an `Error` for what `checkCron` rejects. Seed: workflow 2.6, which
 * does not specify clock changes.
 */
export function nextFire(expression: string, timezone: string, afterMs: number): number {
  const schedule = read(expression);
  const offsets = offsetsAround(timezone, afterMs);
  schedule.wall.reset(new Date(afterMs + Math.min(...offsets)));
  let best = Number.POSITIVE_INFINITY;
  for (;;) {
    const wall = schedule.wall.next().getTime();
    const found = toFires(schedule, timezone, wall);
    for (const fire of found.fires) if (fire > afterMs) best = Math.min(best, fire);
    if (wall - found.largestOffset >= best) return best;
  }
}

/** The last fire at or before a time; undefined if there was none since 1970. */
export function previousFire(expression: string, timezone: string, atOrBeforeMs: number): number | undefined {
  const schedule = read(expression);
  const offsets = offsetsAround(timezone, atOrBeforeMs);
  schedule.wall.reset(new Date(atOrBeforeMs + Math.max(...offsets) + 1));
  let best = Number.NEGATIVE_INFINITY;
  for (;;) {
    const wall = schedule.wall.prev().getTime();
    const found = toFires(schedule, timezone, wall);
    for (const fire of found.fires) if (fire <= atOrBeforeMs) best = Math.max(best, fire);
    if (wall - found.smallestOffset <= best || wall < 0) break;
  }
  return best >= 0 ? best : undefined;
}

/** Number of fires after `afterMs`, up to and including `untilMs`; counting stops at `cap`. */
export function countFires(
  expression: string,
  timezone: string,
  afterMs: number,
  untilMs: number,
  cap: number,
): number {
  let count = 0;
  let fire = nextFire(expression, timezone, afterMs);
  while (count < cap && fire <= untilMs) {
    count += 1;
    if (count < cap) fire = nextFire(expression, timezone, fire);
  }
  return count;
}

function read(expression: string): Schedule {
  const known = cache.get(expression);
  if (known !== undefined) {
    cache.delete(expression);
    cache.set(expression, known);
    return known;
  }
  const schedule = parse(expression);
  cache.set(expression, schedule);
  for (const oldest of cache.keys()) {
    if (cache.size <= CACHED_EXPRESSIONS) break;
    cache.delete(oldest);
  }
  return schedule;
}

function parse(expression: string): Schedule {
  const written = expandCron(expression);
  const hours = written.split(" ")[1];
  const everyHour = hours === EVERY_HOUR || hours?.split(",").length === ALL_HOURS;
  try {
    const wall = CronExpressionParser.parse(`0 ${written}`, { tz: "UTC", currentDate: new Date(0) });
    wall.next();
    return { wall, everyHour };
  } catch {
    throw new Error("this schedule never fires: none of its months has that day");
  }
}

/** The instants at which local clocks show a time, and the zone's offsets around them. */
function toFires(
  schedule: Schedule,
  timezone: string,
  wall: number,
): { fires: readonly number[]; largestOffset: number; smallestOffset: number } {
  const about = wall - offsetAt(timezone, wall);
  const before = offsetAt(timezone, about - NEAR_MS);
  const after = offsetAt(timezone, about + NEAR_MS);
  const largestOffset = Math.max(before, after);
  const smallestOffset = Math.min(before, after);
  if (before === after) return { fires: [wall - before], largestOffset, smallestOffset };
  const first = wall - before;
  const second = wall - after;
  const isFirst = offsetAt(timezone, first) === before;
  const isSecond = offsetAt(timezone, second) === after;
  if (isFirst && isSecond) {
    return { fires: schedule.everyHour ? [first, second] : [first], largestOffset, smallestOffset };
  }
  return { fires: [isSecond ? second : first], largestOffset, smallestOffset };
}

function offsetsAround(timezone: string, at: number): readonly number[] {
  return [offsetAt(timezone, at - NEAR_MS), offsetAt(timezone, at), offsetAt(timezone, at + NEAR_MS)];
}
