import type { Fields, Log } from "../lib/platform/log.ts";

const LEVELS = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof LEVELS)[number];

/** Longest text of a field, characters; a stack or a body beyond it is cut. */
const TEXT_MAX = 8_192;
const CAUSES_MAX = 5;

export interface JsonLogOptions {
  /** Takes one line, with its line break. */
  readonly write: (line: string) => void;
  /** Records below it are dropped. */
  readonly level: LogLevel;
  /** Takes secrets out of a line. */
  readonly redact?: (line: string) => string;
  readonly now?: () => number;
}

/** The log port as JSON lines: `time`, `level`, `message`, then the fields. Never throws. */
export function jsonLog(options: JsonLogOptions): Log {
  const { write, redact = (line: string) => line, now = Date.now } = options;
  const lowest = LEVELS.indexOf(options.level);
  const logWith = (base: Fields): Log => {
    const record = (level: LogLevel) => (message: string, fields?: Fields) => {
      if (LEVELS.indexOf(level) < lowest) return;
      const time = new Date(now()).toISOString();
      write(`${redact(toLine({ time, level, message, ...base, ...fields }))}\n`);
    };
    return {
      debug: record("debug"),
      info: record("info"),
      warn: record("warn"),
      error: record("error"),
      with: (fields) => logWith({ ...base, ...fields }),
    };
  };
  return logWith({});
}

function toLine(entry: Fields): string {
  try {
    return JSON.stringify(entry, (_name, value: unknown) => plain(value));
  } catch (error) {
    const { time, level, message } = entry;
    return JSON.stringify({ time, level, message, unprintable: String(error) });
  }
}

function plain(value: unknown): unknown {
  if (value instanceof Error) return errorFields(value, 0);
  if (typeof value === "bigint") return String(value);
  if (typeof value === "string" && value.length > TEXT_MAX) return `${value.slice(0, TEXT_MAX)}…`;
  return value;
}

function errorFields(error: Error, depth: number): Fields {
  const { code } = error as { code?: unknown };
  const { cause } = error;
  return {
    name: error.name,
    message: error.message,
    ...(typeof code === "string" ? { code } : {}),
    stack: error.stack,
    ...(cause instanceof Error && depth < CAUSES_MAX ? { cause: errorFields(cause, depth + 1) } : {}),
  };
}
