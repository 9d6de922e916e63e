import { randomUUID } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { BlobUpload } from "../blobs.ts";
import type { Subject } from "./resources.ts";

/** Sends an upload as a client does; resolves with whether it was accepted. */
export type SendUpload = (upload: BlobUpload, bytes: Uint8Array) => Promise<boolean>;

export const sendByFetch: SendUpload = async ({ method, url, headers }, bytes) =>
  (await fetch(url, { method, headers, body: Buffer.from(bytes) })).ok;

export function blobsContract(subject: Subject, send: SendUpload): void {
  const text = async (key: string, range?: { start: number; end: number }): Promise<string | undefined> => {
    const data = await subject().blobs.get(key, range);
    return data === undefined ? undefined : Buffer.from(data).toString();
  };

  describe("blobs", () => {
    it("returns bytes and text, and replaces existing blobs", async () => {
      const key = `${randomUUID()}/a`;
      await subject().blobs.put(key, "a long first text é");
      await subject().blobs.put(key, new Uint8Array([1, 0, 255]));
      expect(await subject().blobs.get(key)).toEqual(new Uint8Array([1, 0, 255]));
      const info = await subject().blobs.head(key);
      expect(info?.bytes).toBe(3);
      expect(Math.abs((info?.modifiedAt ?? 0) - Date.now())).toBeLessThan(60_000);
    });

    it("reads ranges, cut at the end of the blob", async () => {
      const key = randomUUID();
      await subject().blobs.put(key, "0123456789");
      expect(await text(key, { start: 2, end: 5 })).toBe("234");
      expect(await text(key, { start: 8, end: 50 })).toBe("89");
    });

    it("streams a large blob in pieces", async () => {
      const key = randomUUID();
      const data = Buffer.alloc(1_000_000, "0123456789");
      await subject().blobs.put(key, data);
      const chunks: Uint8Array[] = [];
      for await (const chunk of (await subject().blobs.stream(key)) ?? []) chunks.push(chunk);
      expect(chunks.length).toBeGreaterThan(1);
      expect(Buffer.concat(chunks).equals(data)).toBe(true);
    });

    it("stores a file without moving it", async () => {
      const folder = await mkdtemp(join(tmpdir(), "weft-blob-"));
      try {
        const key = randomUUID();
        await writeFile(join(folder, "source"), "from a file");
        await subject().blobs.putFile(key, join(folder, "source"));
        expect(await text(key)).toBe("from a file");
        expect(await readFile(join(folder, "source"), "utf8")).toBe("from a file");
      } finally {
        await rm(folder, { recursive: true });
      }
    });

    it("lets a client without other permissions upload a blob once", async () => {
      const key = `uploads/${randomUUID()}/a`;
      const data = Buffer.alloc(300_000, "0123456789");
      const upload = await subject().blobs.uploadTo(key, { bytes: data.length, seconds: 60 });
      expect(await subject().blobs.head(key)).toBeUndefined();
      expect(await send(upload, data)).toBe(true);
      expect(Buffer.from((await subject().blobs.get(key)) ?? []).equals(data)).toBe(true);
      expect(await send(upload, Buffer.alloc(data.length, "other"))).toBe(false);
      expect(Buffer.from((await subject().blobs.get(key)) ?? []).equals(data)).toBe(true);
      await subject().blobs.delete([key]);
    });

    it("returns undefined for a missing blob, and ignores its deletion", async () => {
      const key = `${randomUUID()}/x`;
      await subject().blobs.put(key, "x");
      await subject().blobs.delete([key, `${key}/not-there`]);
      expect(await subject().blobs.get(key)).toBeUndefined();
      expect(await subject().blobs.stream(key)).toBeUndefined();
      expect(await subject().blobs.head(key)).toBeUndefined();
    });

    it("lists the keys of a prefix in order, in pages", async () => {
      const root = randomUUID();
      const keys = ["a", "a-b", "a.b", "a/0", "a/b/c", "a0", "b/x"].map((key) => `${root}/${key}`);
      for (const key of [...keys].reverse()) await subject().blobs.put(key, "x");
      expect(await subject().blobs.list(`${root}/`)).toEqual(keys);
      expect(await subject().blobs.list(`${root}/a/`)).toEqual(keys.slice(3, 5));
      expect(await subject().blobs.list(`${root}/a`)).toEqual(keys.slice(0, 6));
      for (const [index, after] of keys.entries()) {
        expect(await subject().blobs.list(`${root}/`, { after, limit: 2 })).toEqual(
          keys.slice(index + 1, index + 3),
        );
      }
      expect(await subject().blobs.list(`${root}/none`)).toEqual([]);
    });

    it.each(["", "/a", "a//b", "a/", "../a", "a/./b", "a b", "a\\b", "ä", "a~"])(
      "rejects the key %j",
      async (key) => {
        await expect(subject().blobs.put(key, "x")).rejects.toThrow();
      },
    );
  });
}
