/** The blobs port: S3. Keys are made of ids, with `/` between the parts, never of users' text. */

export interface BlobInfo {
  readonly bytes: number;
  /** Milliseconds since the epoch. */
  readonly modifiedAt: number;
}

export interface Blobs {
  /** Durable when the promise settles. An existing blob is replaced whole. */
  put(key: string, data: Uint8Array | string): Promise<void>;
  /** Takes a file as the blob's content; the file stays where it is. */
  putFile(key: string, path: string): Promise<void>;
  /** Undefined where there is none. `range` is in bytes, `end` exclusive. */
  get(key: string, range?: { start: number; end: number }): Promise<Uint8Array | undefined>;
  /** In chunks, flat in memory; undefined where there is none. */
  stream(key: string): Promise<AsyncIterable<Uint8Array> | undefined>;
  head(key: string): Promise<BlobInfo | undefined>;
  delete(keys: readonly string[]): Promise<void>;
  /** Keys with the prefix, in order. */
  list(prefix: string, options?: { limit?: number; after?: string }): Promise<string[]>;
}
