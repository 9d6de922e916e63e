import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { ObjectUpload } from "../../lib/platform/aws/provision/put-object.ts";
import { uploadWeb } from "./web-upload.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "weft-web-upload-"));
  await mkdir(join(folder, "assets"));
  await writeFile(join(folder, "assets/main-AB12.js"), "script");
  await writeFile(join(folder, "assets/main-CD34.css"), "style");
  await writeFile(join(folder, "index.html"), "<p>%NONCE%</p>");
  const files = {
    "/assets/main-AB12.js": { type: "text/javascript; charset=utf-8", size: 6 },
    "/assets/main-CD34.css": { type: "text/css; charset=utf-8", size: 5 },
  };
  await writeFile(join(folder, "web.json"), JSON.stringify({ files }));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const BUCKETS = { web: "web-bucket", blobs: "blobs-bucket" };

it("uploads the files as immutable, and the page after all of them", async () => {
  const objects: ObjectUpload[] = [];
  expect(await uploadWeb(folder, BUCKETS, async (object) => objects.push(object))).toBe(2);
  // The files are uploaded concurrently, in any order; the page is the last upload.
  const files = objects.slice(0, -1).sort((one, other) => one.key.localeCompare(other.key));
  expect(
    [...files, ...objects.slice(-1)].map(({ bucket, key, body }) => [
      bucket,
      key,
      Buffer.from(body).toString(),
    ]),
  ).toEqual([
    ["web-bucket", "assets/main-AB12.js", "script"],
    ["web-bucket", "assets/main-CD34.css", "style"],
    ["blobs-bucket", "web/page", "<p>%NONCE%</p>"],
  ]);
  expect(files[0]).toMatchObject({
    contentType: "text/javascript; charset=utf-8",
    cacheControl: "public, max-age=31536000, immutable",
  });
});

it("does not upload the page if a file could not be uploaded", async () => {
  const keys: string[] = [];
  const upload = uploadWeb(folder, BUCKETS, async ({ key }) => {
    if (key.endsWith(".css")) throw new Error("denied");
    keys.push(key);
  });
  await expect(upload).rejects.toThrow("denied");
  expect(keys).not.toContain("web/page");
});
