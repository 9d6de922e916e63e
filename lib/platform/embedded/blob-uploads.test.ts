import { readFile, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { UPLOADS_PATH } from "../blobs.ts";
import { openBlobs } from "./blobs.ts";
import { temporaryFolder } from "./test-platform.ts";

const HOUR_MS = 60 * 60_000;

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let blobs: Awaited<ReturnType<typeof openBlobs>>;
let now: number;
const clock = { now: () => now };
beforeEach(async () => {
  now = Date.now();
  folder = await temporaryFolder();
  blobs = await openBlobs(folder.path, clock);
});
afterEach(() => folder.remove());

async function* chunks(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}
const given = async (key = "uploads/a", bytes = 4): Promise<string> =>
  (await blobs.uploadTo(key, { bytes, seconds: 60 })).url;
const text = async (key: string): Promise<string | undefined> => {
  const bytes = await blobs.get(key);
  return bytes && Buffer.from(bytes).toString();
};

describe("an upload", () => {
  it("of another length stores nothing, and may be repeated", async () => {
    const path = await given();
    for (const wrong of [["abc"], ["ab", "cde"], []])
      expect(await blobs.receiver.find(path)?.receive(chunks(...wrong))).toBe("wrong length");
    expect(await blobs.list("")).toEqual([]);
    expect(await blobs.receiver.find(path)?.receive(chunks("ab", "cd"))).toBe("stored");
    expect(await text("uploads/a")).toBe("abcd");
  });

  it("succeeds for one of two concurrent requests, and stores its whole content", async () => {
    const path = await given();
    const sent = ["abcd", "efgh", "ijkl"];
    const outcomes = await Promise.all(sent.map((one) => blobs.receiver.find(path)?.receive(chunks(one))));
    expect(outcomes.toSorted()).toEqual(["already stored", "already stored", "stored"]);
    expect(await text("uploads/a")).toBe(sent[outcomes.indexOf("stored")]);
  });

  it("that is interrupted stores nothing", async () => {
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield Buffer.from("ab");
      throw new Error("gone");
    }
    const path = await given();
    await expect(blobs.receiver.find(path)?.receive(broken())).rejects.toThrow("gone");
    expect(await text("uploads/a")).toBeUndefined();
  });

  it("is rejected if its path was changed, was signed elsewhere or has expired", async () => {
    const path = await given();
    const [claims = "", mac = ""] = path.slice(UPLOADS_PATH.length).split(".");
    const other = Buffer.from(JSON.stringify([now + HOUR_MS, 4, "documents/x"])).toString("base64url");
    const last = mac.endsWith("A") ? "Q" : "A";
    const wrong = [
      `${other}.${mac}`,
      `${claims}.${mac.slice(0, -1)}${last}`,
      `${claims}.`,
      claims,
      "",
      ".",
      `${claims}.${mac}.${mac}`,
      `${claims}.${mac.slice(0, 20)}`,
      "x".repeat(10_000),
    ];
    for (const one of wrong) expect(blobs.receiver.find(UPLOADS_PATH + one)).toBeUndefined();
    expect(blobs.receiver.find(path)).toMatchObject({ bytes: 4 });
    now += 60_000;
    expect(blobs.receiver.find(path)).toBeUndefined();
  });

  it("is accepted by the next server of the data folder, whose key only its owner can read", async () => {
    const path = await given();
    expect((await stat(join(folder.path, "upload-key"))).mode & 0o777).toBe(0o600);
    const next = await openBlobs(folder.path, clock);
    expect(next.receiver.find(path)).toMatchObject({ bytes: 4 });
    const elsewhere = await temporaryFolder();
    const stranger = await openBlobs(elsewhere.path, clock);
    expect(stranger.receiver.find(path)).toBeUndefined();
    expect(await readFile(join(elsewhere.path, "upload-key"))).not.toEqual(
      await readFile(join(folder.path, "upload-key")),
    );
    await elsewhere.remove();
    await writeFile(join(folder.path, "upload-key"), "short");
    const broken = await openBlobs(folder.path, clock);
    expect(() => broken.receiver.find(path)).toThrow(/does not contain a key/);
  });

  it("that was never finished is removed after a day, and no other blob", async () => {
    for (const key of ["uploads/old", "uploads/new", "documents/old"]) await blobs.put(key, "x");
    const old = new Date(now - 25 * HOUR_MS);
    for (const key of ["uploads/old", "documents/old"])
      await utimes(join(folder.path, "blobs", `${key}~`), old, old);
    await blobs.forgetUploads?.();
    expect(await blobs.list("")).toEqual(["documents/old", "uploads/new"]);
  });
});
