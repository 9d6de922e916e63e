import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { type Blobs, UPLOADS_PATH, type UploadReceiver } from "../blobs.ts";
import type { Clock } from "../clock.ts";

const KEY_BYTES = 32;
/** Maximum length of a path. */
const PATH_MAX = 4_096;

/** Stores a blob at a key that does not exist; false if it exists. */
export type StoreNew = (key: string, write: (file: FileHandle) => Promise<void>) => Promise<boolean>;

/**
 * Uploads at paths of the gateway. The path contains the key, length and expiry, signed with a key of the data folder,
 * so that unused uploads need no state.
 */
export function embeddedUploads(options: {
  /** Path of the file with the signing key, which is created on first use. */
  readonly keyPath: string;
  readonly clock: Pick<Clock, "now">;
  readonly storeNew: StoreNew;
}): { readonly uploadTo: Blobs["uploadTo"]; readonly receiver: UploadReceiver } {
  const { keyPath, clock, storeNew } = options;
  let kept: Buffer | undefined;
  const sign = (text: string): Buffer => {
    kept ??= signingKey(keyPath);
    return createHmac("sha256", kept).update(text).digest();
  };

  return {
    uploadTo: async (key, { bytes, seconds, credential }) => {
      const until = clock.now() + seconds * 1000;
      const text = Buffer.from(JSON.stringify([until, bytes, key, credential])).toString("base64url");
      const url = `${UPLOADS_PATH}${text}.${sign(text).toString("base64url")}`;
      return { method: "PUT", url, headers: { "if-none-match": "*" } };
    },
    receiver: {
      find: (path) => {
        const [text = "", mac = "", ...more] = path.slice(UPLOADS_PATH.length).split(".");
        if (path.length > PATH_MAX || more.length > 0) return undefined;
        const given = Buffer.from(mac, "base64url");
        const expected = sign(text);
        if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
        // The signature is valid, so this is the array that was encoded above.
        const [until, bytes, key, credential] = JSON.parse(Buffer.from(text, "base64url").toString()) as [
          number,
          number,
          string,
          (string | null)?,
        ];
        if (clock.now() >= until) return undefined;
        return {
          key,
          bytes,
          credential: credential ?? undefined,
          receive: (chunks) => take(storeNew, key, bytes, chunks),
        };
      },
    },
  };
}

function signingKey(path: string): Buffer {
  try {
    writeFileSync(path, randomBytes(KEY_BYTES), { flag: "wx", mode: 0o600, flush: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  const key = readFileSync(path);
  if (key.length !== KEY_BYTES)
    throw new Error(`${path} does not contain a key of ${KEY_BYTES} bytes: remove it`);
  return key;
}

class WrongLengthError extends Error {}

async function take(
  storeNew: StoreNew,
  key: string,
  bytes: number,
  chunks: AsyncIterable<Uint8Array>,
): Promise<"stored" | "already stored" | "wrong length"> {
  try {
    const isNew = await storeNew(key, async (file) => {
      let length = 0;
      for await (const chunk of chunks) {
        length += chunk.length;
        if (length > bytes) throw new WrongLengthError();
        await file.write(chunk);
      }
      if (length !== bytes) throw new WrongLengthError();
    });
    return isNew ? "stored" : "already stored";
  } catch (error) {
    if (error instanceof WrongLengthError) return "wrong length";
    throw error;
  }
}
