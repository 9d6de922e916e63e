import { type Clock, systemClock } from "./clock.ts";
import type { Fields, Log } from "./log.ts";

const LEVELS = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof LEVELS)[number];

export interface JsonLogOptions {
  /** Records below this level are dropped; default `info`. */
  readonly level?: LogLevel;
  /** Removes secrets from every text. */
  readonly redact?: (text: string) => string;
  readonly clock?: Clock;
  /** Receives one line with its line break; default standard error. */
  readonly write?: (line: string) => void;
}

const FIELD_CHARACTERS = 8 * 1024;
const DEPTH = 6;
const MEMBERS = 100;

/**
 * Writes one JSON object per line: time, level, message, then the fields. Texts are truncated at 8 KB. Error stacks are
 * included at level error, and at all levels if the log level is debug.
 */
export function jsonLog(options: JsonLogOptions = {}): Log {
  const { level = "info", redact = (text) => text, clock = systemClock } = options;
  const write = options.write ?? ((line: string) => void process.stderr.write(line));
  const lowest = LEVELS.indexOf(level);

  const textOf = (text: string): string => {
    // Redact before truncating, so that no part of a secret remains at the end.
    const clean = redact(text.length > 2 * FIELD_CHARACTERS ? text.slice(0, 2 * FIELD_CHARACTERS) : text);
    return clean.length > FIELD_CHARACTERS ? `${clean.slice(0, FIELD_CHARACTERS)}…` : clean;
  };
  const errorOf = (error: Error, depth: number, stacks: boolean): unknown => ({
    name: error.name,
    message: textOf(error.message),
    ...("code" in error ? { code: plain(error.code, depth + 1, stacks) } : {}),
    ...(error.cause === undefined ? {} : { cause: plain(error.cause, depth + 1, stacks) }),
    ...(stacks && error.stack !== undefined ? { stack: textOf(error.stack) } : {}),
  });
  const plain = (value: unknown, depth: number, stacks: boolean): unknown => {
    if (typeof value === "string") return textOf(value);
    if (typeof value === "bigint" || typeof value === "symbol") return String(value);
    if (typeof value === "function") return "[function]";
    if (typeof value !== "object" || value === null) return value;
    if (depth > DEPTH) return "[deep]";
    if (value instanceof Error) return errorOf(value, depth, stacks);
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
    if (value instanceof Uint8Array) return `[${value.byteLength} bytes]`;
    if (Array.isArray(value))
      return value.slice(0, MEMBERS).map((member) => plain(member, depth + 1, stacks));
    const members = Object.entries(value).slice(0, MEMBERS);
    return Object.fromEntries(
      members.map(([name, member]) => [textOf(name), plain(member, depth + 1, stacks)]),
    );
  };

  const logWith = (fixed: Fields): Log => {
    const record =
      (at: LogLevel) =>
      (message: string, fields?: Fields): void => {
        if (LEVELS.indexOf(at) < lowest) return;
        const rest = plain({ ...fixed, ...fields }, 0, level === "debug" || at === "error") as Fields;
        const head = { time: new Date(clock.now()).toISOString(), level: at, message: textOf(message) };
        // `head` twice: the first fixes the member order, the second prevents fields from overriding it.
        write(`${JSON.stringify({ ...head, ...rest, ...head })}\n`);
      };
    return {
      debug: record("debug"),
      info: record("info"),
      warn: record("warn"),
      error: record("error"),
      with: (fields) => logWith({ ...fixed, ...fields }),
    };
  };
  return logWith({});
}
