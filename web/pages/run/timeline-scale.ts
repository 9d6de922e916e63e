/** The part of the time that a timeline shows, milliseconds since 1970. */
export interface TimeWindow {
  readonly from: number;
  readonly to: number;
}

/** The shortest time that is shown, milliseconds. */
const WINDOW_MIN = 10;
const STEPS_OF_TICKS = [1, 2, 5];
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const LONG_TICKS = [
  SECOND,
  2 * SECOND,
  5 * SECOND,
  10 * SECOND,
  15 * SECOND,
  30 * SECOND,
  MINUTE,
  2 * MINUTE,
  5 * MINUTE,
  10 * MINUTE,
  15 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  6 * HOUR,
  12 * HOUR,
  DAY,
  7 * DAY,
  30 * DAY,
];

/** Shows more (`factor` below 1) or less around a position from 0 to 1, within all of the time. */
export function zoomed(shown: TimeWindow, all: TimeWindow, factor: number, at: number): TimeWindow {
  const length = shown.to - shown.from;
  const next = Math.min(all.to - all.from, Math.max(WINDOW_MIN, length * factor));
  return within(
    { from: shown.from + (length - next) * at, to: shown.from + (length - next) * at + next },
    all,
  );
}

/** Moves by a part of what is shown, within all of the time. */
export function moved(shown: TimeWindow, all: TimeWindow, part: number): TimeWindow {
  const by = (shown.to - shown.from) * part;
  return within({ from: shown.from + by, to: shown.to + by }, all);
}

function within({ from, to }: TimeWindow, all: TimeWindow): TimeWindow {
  const length = Math.min(to - from, all.to - all.from);
  const start = Math.min(Math.max(from, all.from), all.to - length);
  return { from: start, to: start + length };
}

/** The place of a time in what is shown, percent; may be outside of 0 to 100. */
export const positionOf = (time: number, { from, to }: TimeWindow): number =>
  ((time - from) / Math.max(1, to - from)) * 100;

/** Times after `origin` for the marks of the axis, at most `count`, at even distances. */
export function ticksOf({ from, to }: TimeWindow, origin: number, count: number): number[] {
  const wanted = (to - from) / Math.max(1, count);
  const size = tickSize(wanted);
  const ticks: number[] = [];
  for (let tick = Math.ceil((from - origin) / size) * size; tick <= to - origin; tick += size)
    ticks.push(tick);
  return ticks;
}

function tickSize(wanted: number): number {
  const long = LONG_TICKS.find((one) => one >= wanted);
  if (wanted >= SECOND) return long ?? Math.ceil(wanted / DAY) * DAY;
  const power = 10 ** Math.floor(Math.log10(Math.max(1, wanted)));
  return (STEPS_OF_TICKS.find((one) => one * power >= wanted) ?? 10) * power;
}
