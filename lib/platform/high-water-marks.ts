import { LIMITS, type Limit, type LimitName, limitFault } from "./limits.ts";

/** The largest value that was compared with each limit, and the longest duration of each function. */
export interface HighWaterMarks {
  readonly limits: Readonly<Partial<Record<LimitName, number>>>;
  /** Milliseconds, by the function's logical id. */
  readonly handlers: Readonly<Record<string, number>>;
}

export interface LimitState {
  readonly name: string;
  readonly limit: Limit;
  readonly largest: number | null;
}

interface Recording {
  readonly limits: Map<LimitName, number>;
  readonly handlers: Map<string, number>;
  changes: number;
}

/** Undefined in production: only a recording process measures sizes that are far below their limit. */
let recording: Recording | undefined;

/** Starts to record, with nothing recorded so far. */
export function startRecording(): void {
  recording = { limits: new Map(), handlers: new Map(), changes: 0 };
}

export function stopRecording(): void {
  recording = undefined;
}

export function isRecording(): boolean {
  return recording !== undefined;
}

/** Records a value before it is checked, so that a rejected value is recorded as well. */
export function recordValue(name: LimitName, value: number): void {
  if (recording === undefined || value <= (recording.limits.get(name) ?? -1)) return;
  recording.limits.set(name, value);
  recording.changes += 1;
}

/** Records how long a function ran, in milliseconds. */
export function recordDuration(logicalId: string, ms: number): void {
  if (recording === undefined || ms <= (recording.handlers.get(logicalId) ?? -1)) return;
  recording.handlers.set(logicalId, ms);
  recording.changes += 1;
}

/** Throws `limit_exceeded` if a number exceeds its limit. */
export function checkLimit(name: LimitName, what: string, value: number): void {
  recordValue(name, value);
  if (value > LIMITS[name].value) throw limitFault(name, what, value);
}

/** Whether a text has more bytes in UTF-8 than its limit allows. */
export function exceedsLimit(name: LimitName, text: string): boolean {
  // At most 3 bytes for each UTF-16 code unit.
  if (recording === undefined && text.length * 3 <= LIMITS[name].value) return false;
  const bytes = Buffer.byteLength(text);
  recordValue(name, bytes);
  return bytes > LIMITS[name].value;
}

/** Whether a text has more bytes as a JSON string, in which some characters are escaped, than its limit allows. */
export function exceedsLimitAsJson(name: LimitName, text: string): boolean {
  // At most 6 bytes (`\u0000`) for each UTF-16 code unit, and the quotes.
  if (recording === undefined && text.length * 6 + 2 <= LIMITS[name].value) return false;
  const bytes = Buffer.byteLength(JSON.stringify(text));
  recordValue(name, bytes);
  return bytes > LIMITS[name].value;
}

export function readHighWaterMarks(): HighWaterMarks {
  return {
    limits: Object.fromEntries(recording?.limits ?? []),
    handlers: Object.fromEntries(recording?.handlers ?? []),
  };
}

/** Every limit, and the largest value that was compared with it; null unless values are recorded. */
export const limitStates = (): LimitState[] =>
  Object.entries<Limit>(LIMITS).map(([name, limit]) => ({
    name,
    limit,
    largest: recording === undefined ? null : (recording.limits.get(name as LimitName) ?? 0),
  }));

/** Takes over marks that another process recorded. */
export function mergeHighWaterMarks({ limits, handlers }: HighWaterMarks): void {
  for (const [name, value] of Object.entries(limits)) recordValue(name as LimitName, value);
  for (const [logicalId, ms] of Object.entries(handlers)) recordDuration(logicalId, ms);
}

/** A counter that grows whenever a mark grows. */
export function recordedChanges(): number {
  return recording?.changes ?? 0;
}
