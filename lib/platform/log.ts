/** The log port: structured records, one JSON object a line on stderr. */

export type Fields = Readonly<Record<string, unknown>>;

export interface Log {
  debug(message: string, fields?: Fields): void;
  info(message: string, fields?: Fields): void;
  warn(message: string, fields?: Fields): void;
  error(message: string, fields?: Fields): void;
  /** The same log with further fields in every record. */
  with(fields: Fields): Log;
}
