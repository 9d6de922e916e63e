import { randomUUID } from "node:crypto";
import { request } from "node:http";
import { connect } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openBlobs } from "../lib/platform/embedded/blobs.ts";
import { temporaryFolder } from "../lib/platform/embedded/test-platform.ts";
import type { Log } from "../lib/platform/log.ts";
import { type Gateway, startGateway } from "./gateway.ts";

const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, with: () => silent };

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let blobs: Awaited<ReturnType<typeof openBlobs>>;
let gateway: Gateway;
beforeEach(async () => {
  folder = await temporaryFolder();
  blobs = await openBlobs(folder.path);
  const invoke = {
    authenticate: async () => ({ isAuthenticated: false }),
    start: () => Promise.reject(new Error("no function is called")) as never,
  };
  const options = { functions: [], invoke, log: silent, host: "127.0.0.1", port: 0 };
  gateway = await startGateway({ ...options, uploads: blobs.receiver });
});
afterEach(async () => {
  await gateway.close(0);
  await folder.remove();
});

const given = async (key: string, bytes: number): Promise<string> =>
  (await blobs.uploadTo(key, { bytes, seconds: 60 })).url;
const put = (path: string, body: Uint8Array, method = "PUT") =>
  fetch(gateway.url + path, { method, body: Buffer.from(body), headers: { "if-none-match": "*" } });

/** A body without a length, in chunks. */
function inChunks(path: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(gateway.url + path, { method: "PUT" }, (answer) => {
      answer.resume().once("end", () => resolve(answer.statusCode));
    });
    sent.once("error", reject);
    sent.write("ab");
    sent.end("cd");
  });
}

test("accepts an upload in chunks, once, at its own path only", async () => {
  const data = Buffer.alloc(3_000_000, randomUUID());
  const path = await given("uploads/a", data.length);
  expect((await put(path, data, "POST")).status).toBe(404);
  const stored = await put(path, data);
  expect([stored.status, await stored.text()]).toEqual([200, ""]);
  expect(Buffer.from((await blobs.get("uploads/a")) ?? []).equals(data)).toBe(true);
  const again = await put(path, data);
  expect([again.status, await again.json()]).toEqual([
    412,
    { error: true, message: "The content has already been uploaded" },
  ]);
  for (const wrong of [`${path}x`, "/blob-uploads/a.b", "/blob-uploads/a/b"])
    expect((await put(wrong, data.subarray(0, 10))).status).toBe(403);
});

test("refuses a body of another length before it is read", async () => {
  const path = await given("uploads/b", 4);
  for (const body of ["abc", "abcde", "", "x".repeat(5_000_000)])
    expect((await put(path, Buffer.from(body))).status).toBe(400);
  expect(await inChunks(path)).toBe(411);
  expect(await blobs.list("")).toEqual([]);
  expect((await put(path, Buffer.from("abcd"))).status).toBe(200);
});

test("removes the upload of a client that disconnects, which may try again", async () => {
  const path = await given("uploads/c", 8);
  await new Promise<void>((resolve, reject) => {
    const socket = connect(gateway.port, "127.0.0.1", () => {
      socket.write(`PUT ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 8\r\n\r\nabc`, () => {
        socket.destroy();
        resolve();
      });
    });
    socket.once("error", reject);
  });
  await expect.poll(() => put(path, Buffer.from("abcdefgh")).then(({ status }) => status)).toBe(200);
  expect(Buffer.from((await blobs.get("uploads/c")) ?? []).toString()).toBe("abcdefgh");
});
