/** The log port: structured records, one JSON object per line on standard error. */

export type Fields = Readonly<Record<string, unknown>>;

export interface Log {
  debug(message: string, fields?: Fields): void;
  info(message: string, fields?: Fields): void;
  warn(message: string, fields?: Fields): void;
  error(message: string, fields?: Fields): void;
  /** A log that adds these fields to every record. */
  with(fields: Fields): Log;
}
