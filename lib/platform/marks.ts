import { LIMITS, type LimitName } from "./limits.ts";

/**
 * High-water marks: the largest value that each limit has seen in this process. They are the process's and
 * not a platform's, because the checks that they stand beside are plain functions on the hottest paths: to
 * note a value costs a comparison, and an assignment where it is the largest so far.
 */
export interface Marks {
  readonly limits: Readonly<Partial<Record<LimitName, number>>>;
  /** The longest time of each function's handler, milliseconds. */
  readonly handlers: Readonly<Record<string, number>>;
}

/** Limits whose checks count bytes only where it matters. */
export const ROUGH = [
  "itemBytes",
  "partitionKeyBytes",
  "sortKeyBytes",
  "transactionBytes",
  "busEntryBytes",
  "messageBytes",
  "blobKeyBytes",
  "payloadBytes",
] as const satisfies readonly LimitName[];
export type RoughName = (typeof ROUGH)[number];

/**
 * Up to this share of such a limit a mark is an upper bound, at most three times what was seen (about six
 * for payloads). Above it marks are exact.
 */
export const ROUGH_SHARE = 1 / 8;

const names = Object.keys(LIMITS) as LimitName[];
const forEachLimit = (value: (name: LimitName) => number): Record<LimitName, number> =>
  Object.fromEntries(names.map((name) => [name, value(name)])) as Record<LimitName, number>;

const NOT_SEEN = -1;
const highest = forEachLimit(() => NOT_SEEN);
const roughUpTo = forEachLimit((name) => LIMITS[name].value * ROUGH_SHARE);
const longest = new Map<string, number>();
let changes = 0;

/** Notes a value: before it is checked, so that what was refused shows too. */
export function note(name: LimitName, value: number): void {
  if (value > highest[name]) {
    highest[name] = value;
    changes += 1;
  }
}

/**
 * Notes a value of which only a bound is known. False where that does not do: the value may be a new mark of
 * a size that matters, and is to be counted and noted.
 */
export function noteAtMost(name: RoughName, most: number): boolean {
  if (most <= highest[name]) return true;
  if (most > roughUpTo[name]) return false;
  note(name, most);
  return true;
}

/** Notes the bytes of a text in UTF-8; true when they pass the limit. Counts them only where its length leaves a doubt. */
export function isTooLong(name: RoughName, text: string): boolean {
  const most = text.length * 3;
  if (most <= LIMITS[name].value && noteAtMost(name, most)) return false;
  const bytes = Buffer.byteLength(text);
  note(name, bytes);
  return bytes > LIMITS[name].value;
}

/** The same of a text as a value in JSON, where quotes and line breaks take more. */
export function isTooLongInJson(name: RoughName, text: string): boolean {
  const most = text.length * 6 + 2;
  if (most <= LIMITS[name].value && noteAtMost(name, most)) return false;
  const bytes = jsonBytes(text);
  note(name, bytes);
  return bytes > LIMITS[name].value;
}

/** Bytes of a text as a value in JSON: as a rule without making that, as it may be as long as a payload. */
function jsonBytes(text: string): number {
  const utf8 = Buffer.from(text);
  const escapes = text.isWellFormed() ? escapesIn(utf8) : undefined;
  return escapes === undefined ? Buffer.byteLength(JSON.stringify(text)) : utf8.length + escapes + 2;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const FIRST_PRINTED = 0x20;
const EACH_BYTE = 0x01010101;
const LOW_BITS = 0x7f7f7f7f;
/** Words whose counts, two a byte at most, fit into a byte. */
const WORDS_AT_ONCE = 127;

/** Quotes and backslashes in a text, four bytes at a time; undefined where it has control characters. */
function escapesIn(utf8: Buffer): number | undefined {
  const words = new Uint32Array(utf8.buffer, utf8.byteOffset, utf8.length >>> 2);
  let found = 0;
  let printed = ~0;
  for (let at = 0; at < words.length; ) {
    let counts = 0;
    for (const end = Math.min(words.length, at + WORDS_AT_ONCE); at < end; at += 1) {
      const word = words[at] ?? 0;
      counts += zeroBytes(word ^ (QUOTE * EACH_BYTE)) + zeroBytes(word ^ (BACKSLASH * EACH_BYTE));
      // The highest bit of each byte stays where that is 0x20 or more.
      printed &= ((word & LOW_BITS) + (0x80 - FIRST_PRINTED) * EACH_BYTE) | word;
    }
    for (let byte = 0; byte < 32; byte += 8) found += (counts >>> byte) & 0xff;
  }
  let hasControls = (~printed & ~LOW_BITS) !== 0;
  for (const byte of utf8.subarray(words.length * 4)) {
    if (byte === QUOTE || byte === BACKSLASH) found += 1;
    hasControls ||= byte < FIRST_PRINTED;
  }
  return hasControls ? undefined : found;
}

/** 1 in each byte that was 0, and 0 in others. */
const zeroBytes = (word: number): number => (~(((word & LOW_BITS) + LOW_BITS) | word) >>> 7) & EACH_BYTE;

/** Notes how long a function's handler took, milliseconds. */
export function noteHandler(functionName: string, ms: number): void {
  if (ms > (longest.get(functionName) ?? NOT_SEEN)) {
    longest.set(functionName, ms);
    changes += 1;
  }
}

export function readMarks(): Marks {
  const seen = names.filter((name) => highest[name] > NOT_SEEN);
  return {
    limits: Object.fromEntries(seen.map((name) => [name, highest[name]])),
    handlers: Object.fromEntries(longest),
  };
}

/** Notes all of what was seen before, or by others. */
export function noteMarks({ limits, handlers }: Marks): void {
  for (const name of names) note(name, limits[name] ?? NOT_SEEN);
  for (const [functionName, ms] of Object.entries(handlers)) noteHandler(functionName, ms);
}

/** Begins anew. */
export function forgetMarks(): void {
  for (const name of names) highest[name] = NOT_SEEN;
  longest.clear();
  changes += 1;
}

/** Grows whenever a mark does. */
export function marksChanges(): number {
  return changes;
}
