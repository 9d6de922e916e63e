/** The blobs port: S3. Keys consist of ids separated by `/` and never contain users' text. */

export interface BlobInfo {
  readonly bytes: number;
  /** Milliseconds since the epoch. */
  readonly modifiedAt: number;
}

/** Key prefix of uploads. Uploads that are never finished are removed after a day or two. */
export const UPLOADS_PREFIX = "uploads/";
export const UPLOADS_DAYS = 1;
/** Path prefix under which the gateway accepts uploads if the store has no URLs of its own. */
export const UPLOADS_PATH = "/blob-uploads/";

/** A presigned request: uploads one blob once, with exactly these headers. */
export interface BlobUpload {
  readonly method: "PUT";
  /** An absolute URL, or a path of the gateway. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Accepts uploads at the paths that `uploadTo` returned. */
export interface UploadReceiver {
  /** Undefined for unknown and expired paths. */
  find(path: string): ExpectedUpload | undefined;
  /** Whether the credential that the upload was granted to is still valid. */
  isAllowed?(upload: ExpectedUpload): Promise<boolean>;
}

export interface ExpectedUpload {
  readonly key: string;
  readonly bytes: number;
  /** The `credential` that was passed to `uploadTo`. */
  readonly credential: string | undefined;
  /** The blob is durable when the promise resolves with `stored`. */
  receive(chunks: AsyncIterable<Uint8Array>): Promise<"stored" | "already stored" | "wrong length">;
}

/** What the response to a presigned download says of the blob. */
export interface BlobDownload {
  readonly seconds: number;
  readonly contentType: string;
  readonly contentDisposition: string;
  readonly cacheControl: string;
}

export interface Blobs {
  /** The blob is durable when the promise settles. Replaces an existing blob. */
  put(key: string, data: Uint8Array | string): Promise<void>;
  /**
   * As `put`, in constant memory. If the chunks end with an error, nothing is stored and the promise rejects with it.
   * Returns the number of bytes.
   */
  putStream(key: string, chunks: AsyncIterable<Uint8Array>): Promise<number>;
  /** Stores a copy of a file; the file is not moved. */
  putFile(key: string, path: string): Promise<void>;
  /** Undefined if the blob does not exist. `range` is in bytes, `end` exclusive. */
  get(key: string, range?: { start: number; end: number }): Promise<Uint8Array | undefined>;
  /** In chunks, in constant memory; undefined if the blob does not exist. `range` is as in `get`, and not empty. */
  stream(key: string, range?: { start: number; end: number }): Promise<AsyncIterable<Uint8Array> | undefined>;
  head(key: string): Promise<BlobInfo | undefined>;
  delete(keys: readonly string[]): Promise<void>;
  /**
   * Grants the upload of a blob of exactly this many bytes, at a key that does not exist yet, for a number of seconds.
   * `credential` identifies the token that the upload is granted to; stores with presigned URLs ignore it.
   */
  uploadTo(
    key: string,
    allowed: { bytes: number; seconds: number; credential?: string | undefined },
  ): Promise<BlobUpload>;
  /** A URL from which anyone can download the blob for a time. Missing if the store has no URLs of its own. */
  downloadUrl?(key: string, download: BlobDownload): Promise<string>;
  /** Headers that authorize a proxy's GET of the blob, names in lower case. Missing if the store has no URLs of its own. */
  authorizeDownload?(key: string): Promise<Readonly<Record<string, string>>>;
  /** Removes unfinished uploads. Missing if the store expires them itself. */
  forgetUploads?(): Promise<void>;
  /** Keys with the prefix, in ascending order. */
  list(prefix: string, options?: { limit?: number; after?: string }): Promise<string[]>;
}
