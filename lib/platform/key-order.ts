import { exceedsLimit } from "./high-water-marks.ts";
import { limitFault } from "./limits.ts";
import type { Key, SortRange } from "./tables.ts";

const LAST_CODE_POINT = 0x10ffff;

/** Negative, zero or positive if `left` sorts before, with or after `right` in the order of UTF-8 bytes. */
export function compareUtf8(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right));
}

/** The smallest text greater than all texts that begin with `prefix`; undefined if no such text exists. */
export function afterPrefix(prefix: string): string | undefined {
  const points = Array.from(prefix, (character) => character.codePointAt(0) ?? 0);
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    if (last === LAST_CODE_POINT) continue;
    // UTF-8 has no surrogates: U+E000 follows U+D7FF.
    return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1);
  }
  return undefined;
}

/** Throws `limit_exceeded` for a key that DynamoDB rejects: empty, too long, or not well-formed Unicode. */
export function checkKeyPart(
  name: string,
  value: unknown,
  limit: "partitionKeyBytes" | "sortKeyBytes",
): asserts value is string {
  if (typeof value !== "string" || value === "") throw limitFault(limit, `an empty or missing key "${name}"`);
  if (exceedsLimit(limit, value)) throw limitFault(limit, `the key "${name}"`, Buffer.byteLength(value));
  if (!value.isWellFormed()) throw limitFault(limit, `the key "${name}", which is not well-formed Unicode,`);
}

export function checkKey(key: Key): void {
  checkKeyPart("pk", key.pk, "partitionKeyBytes");
  checkKeyPart("sk", key.sk, "sortKeyBytes");
}

export interface Bound {
  readonly value: string;
  readonly inclusive: boolean;
}

export interface Bounds {
  readonly low: Bound | undefined;
  readonly high: Bound | undefined;
}

function tighter(kept: Bound | undefined, next: Bound, direction: 1 | -1): Bound {
  if (kept === undefined) return next;
  const order = compareUtf8(next.value, kept.value) * direction;
  if (order === 0) return next.inclusive ? kept : next;
  return order > 0 ? next : kept;
}

/** Reduces a range to one bound on each side, so that a scan starts at the right key. */
export function boundsOf(range: SortRange): Bounds {
  let low: Bound | undefined;
  let high: Bound | undefined;
  const raise = (value: string | undefined, inclusive: boolean): void => {
    if (value !== undefined) low = tighter(low, { value, inclusive }, 1);
  };
  const lower = (value: string | undefined, inclusive: boolean): void => {
    if (value !== undefined) high = tighter(high, { value, inclusive }, -1);
  };
  raise(range.from, true);
  raise(range.after, false);
  lower(range.to, true);
  lower(range.before, false);
  if (range.beginsWith !== undefined && range.beginsWith !== "") {
    raise(range.beginsWith, true);
    lower(afterPrefix(range.beginsWith), false);
  }
  return { low, high };
}

/** Whether the text is within the bounds. */
export function isWithinBounds(value: string, { low, high }: Bounds): boolean {
  if (low !== undefined && compareUtf8(value, low.value) < (low.inclusive ? 0 : 1)) return false;
  return high === undefined || compareUtf8(value, high.value) <= (high.inclusive ? 0 : -1);
}
