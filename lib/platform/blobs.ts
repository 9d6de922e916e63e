/** The blobs port: S3. Keys are made of ids, with `/` between the parts, never of users' text. */

export interface BlobInfo {
  readonly bytes: number;
  /** Milliseconds since the epoch. */
  readonly modifiedAt: number;
}

/** What the keys of uploads begin with: those that nobody comes back for are removed after a day or two. */
export const UPLOADS_PREFIX = "uploads/";
export const UPLOADS_DAYS = 1;
/** What paths of the gateway begin with that take uploads, where the store has no addresses of its own. */
export const UPLOADS_PATH = "/blob-uploads/";

/** A request by which somebody who has no other right puts a blob: once, with the headers as they are. */
export interface BlobUpload {
  readonly method: "PUT";
  /** Whole, or a path of the gateway. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Takes what comes by paths that `uploadTo` gave. */
export interface UploadReceiver {
  /** Undefined for a path that was not given out here, and for one whose time is over. */
  find(path: string): ExpectedUpload | undefined;
  /** Whether whom it was granted to may still send it. */
  isAllowed?(upload: ExpectedUpload): Promise<boolean>;
}

export interface ExpectedUpload {
  readonly key: string;
  readonly bytes: number;
  /** Whom it was granted to, as `uploadTo` was given it. */
  readonly credential: string | undefined;
  /** Durable when it answers `stored`. */
  take(chunks: AsyncIterable<Uint8Array>): Promise<"stored" | "taken already" | "of another length">;
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
  /**
   * Lets a blob of exactly so many bytes be put where none lies, for so many seconds. `credential` names the token that
   * it is granted to; a store with addresses of its own does not look at it.
   */
  uploadTo(
    key: string,
    allowed: { bytes: number; seconds: number; credential?: string | undefined },
  ): Promise<BlobUpload>;
  /** Removes uploads that nobody came back for. Not there where the store does so by itself. */
  forgetUploads?(): Promise<void>;
  /** Keys with the prefix, in order. */
  list(prefix: string, options?: { limit?: number; after?: string }): Promise<string[]>;
}
