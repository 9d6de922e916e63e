import { randomUUID } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Blobs, BlobUpload } from "../blobs.ts";
import { PlatformFault } from "../faults.ts";
import { exceedsLimit } from "../high-water-marks.ts";
import { limitFault } from "../limits.ts";
import { toChunks } from "./batches.ts";
import { signDownloadHeaders, signDownloadUrl } from "./blob-downloads.ts";
import { codeOf, toFault, withFaults } from "./faults.ts";
import { type Pause, retryUntilDone } from "./retries.ts";
import type { S3 } from "./services.ts";

/** `If-None-Match: *`: S3 rejects the upload if the object exists. */
const ONCE = "*";

/** A presigned S3 request with this client's permissions: for exactly this length, and only once. */
async function signedUpload(
  s3: S3,
  upload: { readonly Bucket: string; readonly Key: string; readonly bytes: number; readonly seconds: number },
): Promise<BlobUpload> {
  const { Bucket, Key, bytes, seconds } = upload;
  const { client, getSignedUrl, PutObjectCommand, S3Client } = await s3();
  const { region, credentials, endpoint, forcePathStyle = false } = client.config;
  const signing = new S3Client({
    region,
    credentials,
    forcePathStyle,
    ...(endpoint === undefined ? {} : { endpoint }),
    // A checksum would be signed too, and the bytes are not known yet.
    requestChecksumCalculation: "WHEN_REQUIRED",
  });
  const command = new PutObjectCommand({ Bucket, Key, ContentLength: bytes, IfNoneMatch: ONCE });
  const url = await getSignedUrl(signing, command, { expiresIn: seconds });
  return { method: "PUT", url, headers: { "if-none-match": ONCE } };
}

const PART = /^[A-Za-z0-9._-]{1,200}$/;
/** Keys per delete request, limited by S3. */
const DELETE_KEYS = 1000;
const LIST_KEYS = 1000;
/**
 * Milliseconds that a transfer may take in addition to the time for its bytes, and the minimum bytes per millisecond.
 */
const TRANSFER_MS = 30_000;
const BYTES_PER_MS = 1024;

function checkKey(key: string): string {
  if (exceedsLimit("blobKeyBytes", key))
    throw limitFault("blobKeyBytes", "the blob's key", Buffer.byteLength(key));
  if (key.split("/").some((part) => !PART.test(part) || part === "." || part === "..")) {
    throw new TypeError(`"${key}" is not a valid blob key`);
  }
  return key;
}

const timeFor = (bytes: number) => ({ requestTimeout: TRANSFER_MS + Math.ceil(bytes / BYTES_PER_MS) });

/** Undefined if S3 has no such object. */
async function ifThere<Result>(reading: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await reading();
  } catch (error) {
    if (error instanceof Error && (error.name === "NoSuchKey" || error.name === "NotFound")) return undefined;
    throw toFault(error);
  }
}

async function* chunks(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw toFault(error);
  }
}

/** The blobs port over one bucket. Throws TypeError for keys whose parts do not match `[A-Za-z0-9._-]`. */
export function awsBlobs(options: {
  readonly s3: S3;
  readonly bucket: string;
  readonly pause: Pause;
}): Blobs {
  const { s3, bucket: Bucket, pause } = options;

  const open = async (key: string, range?: string) => {
    const Key = checkKey(key);
    const { client, GetObjectCommand } = await s3();
    const { Body } = await client.send(
      new GetObjectCommand({ Bucket, Key, ...(range === undefined ? {} : { Range: range }) }),
    );
    if (Body === undefined) throw new Error("S3 returned an object without a body");
    return Body;
  };
  const head: Blobs["head"] = (key) =>
    ifThere(async () => {
      const { client, HeadObjectCommand } = await s3();
      const command = new HeadObjectCommand({ Bucket, Key: checkKey(key) });
      const { ContentLength = 0, LastModified } = await client.send(command);
      return { bytes: ContentLength, modifiedAt: LastModified?.getTime() ?? 0 };
    });

  const removeChunk = async (keys: readonly string[]): Promise<void> => {
    const { client, DeleteObjectsCommand } = await s3();
    let left = keys;
    await retryUntilDone(pause, async () => {
      const Objects = left.map((Key) => ({ Key }));
      const command = new DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet: true } });
      const { Errors = [] } = await withFaults(() => client.send(command));
      const [first] = Errors;
      if (first === undefined) return "done";
      const text = `S3 did not delete ${Errors.length} of ${left.length} blobs: ${first.Code} ${first.Message}`;
      const hopeless = Errors.some(({ Code, Message }) => codeOf(Code, Message) === undefined);
      if (hopeless) throw new Error(text);
      const progress = Errors.length < left.length;
      left = Errors.flatMap(({ Key }) => Key ?? []);
      return { again: new PlatformFault(codeOf(first.Code) ?? "unavailable", text), progress };
    });
  };

  const putFile: Blobs["putFile"] = async (key, path) => {
    const Key = checkKey(key);
    const { client, PutObjectCommand } = await s3();
    // The client cannot repeat a request whose stream is consumed, so each attempt reopens the file.
    await retryUntilDone(pause, async () => {
      const { size } = await stat(path);
      const Body = createReadStream(path);
      const command = new PutObjectCommand({ Bucket, Key, Body, ContentLength: size });
      try {
        await client.send(command, timeFor(size));
        return "done";
      } catch (error) {
        const fault = toFault(error);
        if (!(fault instanceof PlatformFault) || fault.code === "limit_exceeded") throw fault;
        return { again: fault };
      } finally {
        Body.destroy();
      }
    });
  };

  return {
    uploadTo: async (key, allowed) => signedUpload(s3, { Bucket, Key: checkKey(key), ...allowed }),
    put: async (key, data) => {
      const Body = typeof data === "string" ? Buffer.from(data) : data;
      const Key = checkKey(key);
      const { client, PutObjectCommand } = await s3();
      const command = new PutObjectCommand({ Bucket, Key, Body });
      await withFaults(() => client.send(command, timeFor(Body.byteLength)));
    },
    putFile,
    putStream: async (key, source) => {
      checkKey(key);
      // S3 requires the length first, and an attempt that fails is repeated.
      const path = join(tmpdir(), `weft-${randomUUID()}`);
      try {
        await pipeline(source, createWriteStream(path, { flags: "wx", mode: 0o600 }));
        const { size } = await stat(path);
        await putFile(key, path);
        return size;
      } finally {
        await rm(path, { force: true });
      }
    },
    get: async (key, range) => {
      const empty = range !== undefined && range.end <= range.start;
      if (empty) return (await head(key)) && new Uint8Array();
      return ifThere(async () => {
        try {
          const body = await open(key, range && `bytes=${range.start}-${range.end - 1}`);
          return new Uint8Array(await body.transformToByteArray());
        } catch (error) {
          if (error instanceof Error && error.name === "InvalidRange") return new Uint8Array();
          throw error;
        }
      });
    },
    stream: (key, range) =>
      ifThere(async () => {
        const part = range === undefined ? undefined : `bytes=${range.start}-${range.end - 1}`;
        return chunks((await open(key, part)) as AsyncIterable<Uint8Array>);
      }),
    downloadUrl: (key, download) => signDownloadUrl(s3, Bucket, checkKey(key), download),
    authorizeDownload: (key) => signDownloadHeaders(s3, Bucket, checkKey(key)),
    head,
    delete: async (keys) => {
      for (const chunk of toChunks(keys.map(checkKey), DELETE_KEYS)) await removeChunk(chunk);
    },
    list: async (prefix, { limit = Number.POSITIVE_INFINITY, after } = {}) => {
      const { client, ListObjectsV2Command } = await s3();
      const keys: string[] = [];
      let next: string | undefined;
      do {
        const command = new ListObjectsV2Command({
          Bucket,
          Prefix: prefix,
          MaxKeys: Math.min(LIST_KEYS, limit - keys.length),
          ...(after ? { StartAfter: after } : {}),
          ...(next === undefined ? {} : { ContinuationToken: next }),
        });
        const { Contents = [], NextContinuationToken } = await withFaults(() => client.send(command));
        keys.push(...Contents.flatMap(({ Key }) => Key ?? []));
        next = NextContinuationToken;
      } while (next !== undefined && keys.length < limit);
      return keys.slice(0, limit);
    },
  };
}
