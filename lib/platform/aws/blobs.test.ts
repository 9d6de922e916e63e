import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import {
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from "@aws-sdk/client-s3";
import { describe, expect, it, onTestFinished } from "vitest";
import { mockAws, serviceError } from "./test-mocks.ts";

describe("blobs in S3", () => {
  it("deletes 1,000 keys per request and retries those that S3 failed to delete", async () => {
    const { ports, s3 } = await mockAws();
    s3.on(DeleteObjectsCommand)
      .resolvesOnce({ Errors: [{ Key: "k7", Code: "SlowDown" }] })
      .resolves({});
    await ports.blobs.delete(Array.from({ length: 1500 }, (_, n) => `k${n}`));
    const deleted = s3
      .commandCalls(DeleteObjectsCommand)
      .map(({ args }) => args[0].input.Delete?.Objects?.map(({ Key }) => Key));
    expect(deleted.map((keys) => keys?.length)).toEqual([1000, 1, 500]);
    expect(deleted[1]).toEqual(["k7"]);
  });

  it("rejects at once if deletion is not permitted", async () => {
    const { ports, s3 } = await mockAws();
    s3.on(DeleteObjectsCommand).resolves({ Errors: [{ Key: "a", Code: "AccessDenied", Message: "no" }] });
    await expect(ports.blobs.delete(["a"])).rejects.toThrow("AccessDenied");
    expect(s3.commandCalls(DeleteObjectsCommand)).toHaveLength(1);
  });

  it("lists all pages", async () => {
    const { ports, s3 } = await mockAws();
    s3.on(ListObjectsV2Command)
      .resolvesOnce({ Contents: [{ Key: "p/a" }, { Key: "p/b" }], NextContinuationToken: "next" })
      .resolvesOnce({ Contents: [{ Key: "p/c" }] });
    expect(await ports.blobs.list("p/", { limit: 5, after: "p/0" })).toEqual(["p/a", "p/b", "p/c"]);
    const requested = s3.commandCalls(ListObjectsV2Command).map(({ args }) => args[0].input);
    expect(requested).toMatchObject([
      { Bucket: "home-blobs", Prefix: "p/", StartAfter: "p/0", MaxKeys: 5 },
      { ContinuationToken: "next", MaxKeys: 3 },
    ]);
  });

  it("reopens the file for each attempt, because a stream can be read only once", async () => {
    const folder = await mkdtemp(join(tmpdir(), "weft-blob-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    await writeFile(join(folder, "source"), "from a file");
    const { ports, s3 } = await mockAws();
    const bodies: string[] = [];
    s3.on(PutObjectCommand).callsFake(
      async ({ Body, ContentLength }: { Body: Readable; ContentLength: number }) => {
        bodies.push(await text(Body));
        expect(ContentLength).toBe(11);
        if (bodies.length < 3) throw serviceError("SlowDown", 503);
        return {};
      },
    );
    await ports.blobs.putFile("a", join(folder, "source"));
    expect(bodies).toEqual(["from a file", "from a file", "from a file"]);
  });

  it("returns no bytes for a range that is empty or begins after the end", async () => {
    const { ports, s3 } = await mockAws();
    s3.on(GetObjectCommand).rejects(serviceError("InvalidRange", 416));
    s3.on(HeadObjectCommand).resolves({ ContentLength: 3 });
    expect(await ports.blobs.get("a", { start: 9, end: 12 })).toEqual(new Uint8Array());
    expect(await ports.blobs.get("a", { start: 2, end: 2 })).toEqual(new Uint8Array());
    const [call] = s3.commandCalls(GetObjectCommand);
    expect(call?.args[0].input.Range).toBe("bytes=9-11");
  });

  it("reports a missing bucket as an error, not as a missing blob", async () => {
    const { ports, s3 } = await mockAws();
    s3.on(GetObjectCommand).rejects(serviceError("NoSuchBucket", 404));
    await expect(ports.blobs.get("a")).rejects.toMatchObject({ name: "NoSuchBucket" });
  });

  it("signs an upload URL for one length, one expiry and one use", async () => {
    const { ports } = await mockAws();
    const { method, url, headers } = await ports.blobs.uploadTo("uploads/a/b", { bytes: 7, seconds: 90 });
    expect([method, headers]).toEqual(["PUT", { "if-none-match": "*" }]);
    const { pathname, searchParams } = new URL(url);
    expect(pathname).toMatch(/\/uploads\/a\/b$/);
    expect(searchParams.get("X-Amz-Expires")).toBe("90");
    expect(searchParams.get("X-Amz-SignedHeaders")).toBe("content-length;host;if-none-match");
    expect([...searchParams.keys()].filter((name) => /checksum|crc/i.test(name))).toEqual([]);
    await expect(ports.blobs.uploadTo("../a", { bytes: 7, seconds: 90 })).rejects.toThrow(TypeError);
  });
});
