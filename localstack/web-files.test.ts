import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Log } from "../lib/platform/log.ts";
import { createFunctions } from "./functions.ts";
import { type Gateway, startGateway } from "./gateway.ts";
import { openWebFiles } from "./web-files.ts";

const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, with: () => silent };
const SCRIPT = "console.log('page');";
const FILE = "/assets/page-0123abcd.js";
const HTML = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

let folder: string;
let gateway: Gateway;

/** A server with a function at `/docs`, one for all other paths, and the pages of `folder`. */
const serve = (pages: string): Promise<Gateway> =>
  startGateway({
    functions: ["/docs", "/{proxy+}"].map((path) => ({
      logicalId: path,
      entry: path,
      handlerExport: "handler",
      timeoutSeconds: 5,
      memoryMb: 128,
      bodyLimitBytes: 1024,
      worker: false,
      routes: [{ method: "ANY", path, stream: false }],
      sources: [],
    })),
    invoke: createFunctions({
      root: "/",
      deps: {},
      load:
        async ({ entry }) =>
        async () => ({ statusCode: entry === "/docs" ? 200 : 404, body: entry, headers: {} }),
    }),
    log: silent,
    pages: openWebFiles(pages, silent),
    host: "127.0.0.1",
    port: 0,
  });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "weft-web-"));
  await mkdir(join(folder, "assets"));
  const [br, gz] = [brotliCompressSync(SCRIPT), gzipSync(SCRIPT)];
  await writeFile(join(folder, FILE), SCRIPT);
  await writeFile(join(folder, `${FILE}.br`), br);
  await writeFile(join(folder, `${FILE}.gz`), gz);
  await writeFile(join(folder, "secret.txt"), "secret");
  await writeFile(join(folder, "index.html"), '<style nonce="%NONCE%"></style>');
  const files = {
    [FILE]: { type: "text/javascript", size: SCRIPT.length, br: br.length, gz: gz.length },
    "/assets/gone-0123abcd.js": { type: "text/javascript", size: 1 },
  };
  await writeFile(join(folder, "web.json"), JSON.stringify({ files }));
  gateway = await serve(folder);
});
afterAll(async () => {
  await gateway.close(0);
  await rm(folder, { recursive: true, force: true });
});

const get = (path: string, init?: RequestInit): Promise<Response> => fetch(gateway.url + path, init);

it.each(["/", "/runs", "/runs/", "/d/1-plan", "/a/b%2Fc?list=mine"])(
  "a browser gets the page at %s",
  async (path) => {
    const response = await get(path, { headers: HTML });
    expect([response.status, response.headers.get("content-type")]).toEqual([
      200,
      "text/html; charset=utf-8",
    ]);
  },
);

it("the policy allows scripts of this server only, and styles with the nonce, which is new each time", async () => {
  const nonces = new Set<string>();
  for (let count = 0; count < 2; count += 1) {
    const response = await get("/", { headers: HTML });
    const [, nonce = ""] = /nonce="([^"]+)"/.exec(await response.text()) ?? [];
    const policy = response.headers.get("content-security-policy") ?? "";
    expect(policy).toContain(`style-src 'self' 'nonce-${nonce}';`);
    expect(policy).toContain("default-src 'none'; script-src 'self';");
    expect(policy).not.toMatch(/unsafe-eval|https?:|script-src[^;]*unsafe/);
    expect(response.headers.get("cache-control")).toBe("no-store");
    nonces.add(nonce);
  }
  expect(nonces.size).toBe(2);
});

it.each([
  ["a path of a function", "/docs", HTML, 200],
  ["another path of a service", "/api/v1.0/nothing", HTML, 404],
  ["a client that does not ask for HTML", "/runs", { accept: "application/json" }, 404],
])("%s gets the response of the function", async (_name, path, headers, status) => {
  const response = await get(path, { headers });
  expect([response.status, await response.text()]).toEqual([status, status === 200 ? "/docs" : "/{proxy+}"]);
});

it("a form that is sent to a page does not get the page", async () => {
  expect((await get("/runs", { method: "POST", headers: HTML, body: "a=1" })).status).toBe(404);
});

it.each([
  ["br, gzip", "br"],
  ["gzip", "gzip"],
  ["br;q=0, gzip;q=0.5", "gzip"],
  ["identity", null],
])("files are sent as accepted: %s", async (accepted, encoding) => {
  const response = await get(FILE, { headers: { "accept-encoding": accepted } });
  expect([response.headers.get("content-encoding"), await response.text()]).toEqual([encoding, SCRIPT]);
  expect(response.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
  expect(response.headers.get("content-type")).toBe("text/javascript");
});

it("HEAD has the headers of GET, and no body", async () => {
  const file = await get(FILE, { method: "HEAD", headers: { "accept-encoding": "identity" } });
  expect([file.status, file.headers.get("content-length"), await file.text()]).toEqual([
    200,
    `${SCRIPT.length}`,
    "",
  ]);
  const page = await get("/", { method: "HEAD", headers: HTML });
  expect([page.status, await page.text()]).toEqual([200, ""]);
});

it.each(["/assets/other.js", "/assets/..%2Fsecret.txt", "/assets/..%5Csecret.txt", `${FILE}.br`])(
  "there is no file at %s",
  async (path) => {
    const response = await get(path, { headers: HTML });
    expect(response.status).toBe(404);
    expect(await response.text()).not.toContain("secret");
  },
);

it("a file that was removed is an error, and the server goes on", async () => {
  expect((await get("/assets/gone-0123abcd.js")).status).toBe(500);
  expect((await get(FILE)).status).toBe(200);
});

it("without a build, a browser is told how to make one", async () => {
  const without = await serve(join(folder, "nothing"));
  const response = await fetch(without.url, { headers: HTML });
  expect([response.status, await response.text()]).toEqual([
    503,
    expect.stringContaining("npm run build:web"),
  ]);
  await without.close(0);
});
