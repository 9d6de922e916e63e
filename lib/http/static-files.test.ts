import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, brotliDecompressSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import * as z from "zod";
import type { Log } from "../platform/log.ts";
import { acceptedEncodings } from "./accept-encoding.ts";
import { hashToken, ownerAuthenticator } from "./auth.ts";
import type { FileResponse } from "./file-response.ts";
import { toHandler } from "./handler.ts";
import { defineRoute } from "./route.ts";
import { type StaticFiles, staticFiles } from "./static-files.ts";
import { testService } from "./test-service.ts";

// Without the Lambda runtime, handlers return whole responses.
beforeAll(() => void vi.stubGlobal("awslambda", undefined));
afterAll(() => vi.unstubAllGlobals());

const log: Log = { debug() {}, info() {}, warn() {}, error() {}, with: () => log };
const deps = { auth: ownerAuthenticator(hashToken("token")), log, throttle: { pass() {} } };
const SCRIPT = "console.log('static');\n".repeat(100);

let folder: string;
let files: StaticFiles;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "weft-static-"));
  const site = join(folder, "site");
  await mkdir(join(site, "assets"), { recursive: true });
  await writeFile(join(folder, "secret.txt"), "secret");
  await writeFile(join(site, "index.html"), "<!doctype html>");
  await writeFile(join(site, ".env"), "secret");
  await writeFile(join(site, "assets/app.js"), SCRIPT);
  await writeFile(join(site, "assets/app.js.br"), brotliCompressSync(SCRIPT));
  await writeFile(join(site, "assets/app.js.gz"), gzipSync(SCRIPT));
  await writeFile(join(site, "assets/large.bin"), Buffer.alloc(16 * 1024 * 1024 + 1));
  await writeFile(join(site, "removed.js.br"), "x");
  await symlink(join(folder, "secret.txt"), join(site, "link.txt"));
  await symlink(join(site, "assets"), join(site, "inside"));
  files = staticFiles(site, {
    cacheControl: (path) => (path.startsWith("assets/") ? "public, max-age=31536000, immutable" : "no-cache"),
    headers: { "content-security-policy": "default-src 'self'" },
  });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const route = defineRoute({
  service: testService,
  operationId: "getFile",
  method: "GET",
  path: "/site/{proxy+}",
  summary: "",
  tag: "",
  auth: "none",
  params: z.object({ proxy: z.string() }),
  status: 200,
  response: z.custom<FileResponse>(),
  fileTypes: ["text/html"],
  run: ({ params, request }, _deps: typeof deps) => files.respond(request, params.proxy),
});

async function get(path: string, headers: Record<string, string> = {}, method = "GET") {
  const result = await toHandler(
    route,
    async () => deps,
  )({
    httpMethod: method,
    path: `/test/site/${path}`,
    headers,
    pathParameters: { proxy: path },
    queryStringParameters: null,
    body: null,
    isBase64Encoded: false,
  });
  const bytes = Buffer.from(result.body, result.isBase64Encoded === true ? "base64" : "utf8");
  return { status: result.statusCode, headers: result.headers, bytes };
}

test("serves a file with its type, ETag and Cache-Control", async () => {
  const script = await get("assets/app.js");
  expect([script.status, script.bytes.toString()]).toEqual([200, SCRIPT]);
  expect(script.headers).toMatchObject({
    "content-type": "text/javascript; charset=utf-8",
    "content-length": String(SCRIPT.length),
    "cache-control": "public, max-age=31536000, immutable",
    "content-security-policy": "default-src 'self'",
    "x-content-type-options": "nosniff",
    vary: "accept-encoding",
    etag: expect.stringMatching(/^"[\w-]{22}"$/),
  });
  expect(script.headers["content-encoding"]).toBeUndefined();
  const index = await get("");
  expect([index.status, index.bytes.toString(), index.headers["cache-control"]]).toEqual([
    200,
    "<!doctype html>",
    "no-cache",
  ]);
  expect((await get("inside/app.js")).status).toBe(200);
});

test("serves the precompressed file that the client prefers", async () => {
  const encodingOf = async (accept: string) =>
    (await get("assets/app.js", { "Accept-Encoding": accept })).headers["content-encoding"];
  expect(await encodingOf("gzip, deflate, br")).toBe("br");
  expect(await encodingOf("gzip;q=1.0, br;q=0.5")).toBe("gzip");
  expect(await encodingOf("br;q=0, *;q=0.1")).toBe("gzip");
  expect(await encodingOf("identity, br;q=0.5")).toBeUndefined();
  expect(await encodingOf("deflate")).toBeUndefined();
  const { bytes, headers } = await get("assets/app.js", { "accept-encoding": "br" });
  expect(brotliDecompressSync(bytes).toString()).toBe(SCRIPT);
  expect(headers["content-length"]).toBe(String(bytes.length));
  const html = await get("index.html", { "accept-encoding": "br, gzip" });
  expect([html.headers["content-encoding"], html.bytes.toString()]).toEqual([undefined, "<!doctype html>"]);
});

test("returns 304 for a matching If-None-Match, with the ETag of the encoding", async () => {
  const plain = (await get("assets/app.js")).headers.etag ?? "";
  const compressed = (await get("assets/app.js", { "accept-encoding": "br" })).headers.etag ?? "";
  expect(compressed).not.toBe(plain);
  for (const condition of [plain, `W/${plain}`, `"other", ${plain}`, "*"]) {
    const { status, headers, bytes } = await get("assets/app.js", { "If-None-Match": condition });
    expect([status, bytes.length, headers.etag]).toEqual([304, 0, plain]);
    expect(headers["content-length"]).toBeUndefined();
  }
  for (const condition of [compressed, '"other"', "", `${'"x",'.repeat(2000)}${plain}`])
    expect((await get("assets/app.js", { "If-None-Match": condition })).status).toBe(200);
});

test("returns the new content and ETag of a changed file", async () => {
  const before = await get("index.html");
  await writeFile(join(folder, "site/index.html"), "<!doctype html><p>changed");
  const after = await get("index.html", { "if-none-match": before.headers.etag ?? "" });
  expect([after.status, after.bytes.toString()]).toEqual([200, "<!doctype html><p>changed"]);
});

test("returns the headers of GET without content for HEAD", async () => {
  const { status, headers, bytes } = await get("assets/app.js", {}, "HEAD");
  expect([status, headers["content-length"], bytes.length]).toEqual([200, String(SCRIPT.length), 0]);
});

test.each([
  "../secret.txt",
  "assets/../../secret.txt",
  "/etc/passwd",
  "assets//app.js",
  "./index.html",
  "..\\secret.txt",
  "index.html\0.js",
  ".env",
  "link.txt",
  "assets",
  "assets/",
  "assets/large.bin",
  "missing.js",
  "a/".repeat(600),
])("returns 404 for %j", async (path) => {
  const { status, bytes } = await get(path);
  expect([status, bytes.toString()]).toEqual([404, '{"error":true,"message":"Not found"}']);
});

test("does not serve a compressed file whose original was removed", async () => {
  expect((await get("removed.js", { "accept-encoding": "br" })).status).toBe(404);
});

test.each([
  [undefined, ["identity"]],
  ["", ["identity"]],
  ["*", ["br", "gzip", "identity"]],
  ["GZIP", ["gzip", "identity"]],
  ["x-gzip;q=0.5,br;q=0.8", ["br", "gzip", "identity"]],
  ["br;q=2", ["identity"]],
  ["identity;q=0, br", ["br", "identity"]],
  [`br${",x".repeat(1000)}`, ["identity"]],
])("prefers encodings by their q-values: %s", (header, expected) => {
  expect(acceptedEncodings(header, ["br", "gzip"])).toEqual(expected);
});
