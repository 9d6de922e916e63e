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

    it("streams a range of a blob, cut at its end", async () => {
      const key = randomUUID();
      await subject().blobs.put(key, "0123456789");
      const read = async (start: number, end: number): Promise<string> => {
        const chunks: Uint8Array[] = [];
        for await (const chunk of (await subject().blobs.stream(key, { start, end })) ?? [])
          chunks.push(chunk);
        return Buffer.concat(chunks).toString();
      };
      expect([await read(2, 5), await read(8, 50), await read(0, 1)]).toEqual(["234", "89", "0"]);
      expect(await subject().blobs.stream(randomUUID(), { start: 0, end: 1 })).toBeUndefined();
    });

    it("stores a stream as a whole or not at all", async () => {
      const key = randomUUID();
      async function* pieces(fails: boolean): AsyncGenerator<Uint8Array> {
        for (let at = 0; at < 20; at += 1) yield Buffer.alloc(70_000, at);
        if (fails) throw new Error("the source failed");
      }
      await expect(subject().blobs.putStream(key, pieces(true))).rejects.toThrow("the source failed");
      expect(await subject().blobs.head(key)).toBeUndefined();
      expect(await subject().blobs.putStream(key, pieces(false))).toBe(1_400_000);
      const stored = Buffer.from((await subject().blobs.get(key)) ?? []);
      expect([stored.length, stored[69_999], stored[70_000], stored.at(-1)]).toEqual([1_400_000, 0, 1, 19]);
    });

    it("lets a client without other permissions download a blob, if the store has URLs", async () => {
      const { blobs } = subject();
      const key = randomUUID();
      await blobs.put(key, "0123456789");
      const url = await blobs.downloadUrl?.(key, {
        seconds: 60,
        contentType: "image/png",
        contentDisposition: 'inline; filename="a.png"',
        cacheControl: "private, max-age=60",
      });
      if (url === undefined) return;
      const response = await fetch(url, { headers: { range: "bytes=2-4" } });
      expect([response.status, await response.text()]).toEqual([206, "234"]);
      expect(response.headers.get("content-type")).toBe("image/png");
      expect(response.headers.get("content-disposition")).toBe('inline; filename="a.png"');
      const headers = await blobs.authorizeDownload?.(key);
      expect(Object.keys(headers ?? {})).toEqual(
        expect.arrayContaining(["authorization", "x-amz-date", "x-amz-content-sha256"]),
      );
      const { origin, pathname } = new URL(url);
      const proxied = await fetch(`${origin}${pathname}`, { headers: headers ?? {} });
      expect([proxied.status, await proxied.text()]).toEqual([200, "0123456789"]);
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
