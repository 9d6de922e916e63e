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

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const FIRST_PRINTED = 0x20;
/** Of control characters: these have an escape of two characters, others one of six. */
const SHORT_ESCAPES = new Set("\b\t\n\f\r");

/** Bytes of a text as a value in JSON, without making that: it may be as long as a payload. */
function jsonBytes(text: string): number {
  if (!text.isWellFormed()) return Buffer.byteLength(JSON.stringify(text));
  let escapes = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE || code === BACKSLASH) escapes += 1;
    else if (code < FIRST_PRINTED) escapes += SHORT_ESCAPES.has(text.charAt(at)) ? 1 : 5;
  }
  return Buffer.byteLength(text) + escapes + 2;
}

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
