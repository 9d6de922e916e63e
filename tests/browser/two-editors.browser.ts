import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { type Browser, chromium, type Page } from "@playwright/test";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { startTestServer, type TestServer } from "../../lib/testing/test-server.ts";

const PAGE = fileURLToPath(new URL("./editor-page.js", import.meta.url));
const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
const HTML = '<!doctype html><meta charset="utf-8"><div id="editor"></div><script src="/page.js"></script>';
const WAIT = { timeout: 15_000 };

let browser: Browser;
let pages: Server;
let origin: string;
let weft: TestServer;

beforeAll(async () => {
  const built = await build({ entryPoints: [PAGE], bundle: true, write: false, platform: "browser" });
  const script = built.outputFiles[0]?.text ?? "";
  pages = createServer(({ url }, response) => {
    const isScript = url === "/page.js";
    response.setHeader(
      "content-type",
      isScript ? "text/javascript; charset=utf-8" : "text/html; charset=utf-8",
    );
    response.end(isScript ? script : HTML);
  });
  await new Promise<void>((resolve) => pages.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
  weft = await start();
  browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: ["--no-sandbox", "--disable-dev-shm-usage"],
  });
}, 60_000);
afterAll(async () => {
  await browser?.close();
  pages?.close();
  await weft?.[Symbol.asyncDispose]();
});

const start = (dataDir?: string, port?: number): Promise<TestServer> =>
  startTestServer({
    ...(dataDir === undefined ? {} : { dataDir }),
    env: {
      COLLABORATION_SERVER_ORIGIN: origin,
      WEFT_ACCESS_TOKEN: "token-of-the-browser-tests",
      ...(port === undefined ? {} : { PORT: String(port) }),
    },
  });

async function api<Body>(method: string, path: string, body?: unknown): Promise<Body> {
  const response = await fetch(`${weft.url}/api/v1.0/${path}`, {
    method,
    headers: { authorization: `Bearer ${weft.token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return (response.status === 204 ? undefined : await response.json()) as Body;
}

const newDocument = async (): Promise<string> =>
  (await api<{ id: string }>("POST", "documents/", { title: "Room" })).id;

/** Opens the document in a browser of its own. */
async function open(room: string, name: string): Promise<Page> {
  const context = await browser.newContext();
  onTestFinished(() => context.close());
  const page = await context.newPage();
  page.on("pageerror", (error) => {
    throw error;
  });
  const query = new URLSearchParams({
    room,
    name,
    token: weft.token,
    server: weft.url.replace(/^http/, "ws"),
  });
  await page.goto(`${origin}/?${query}`);
  await page.waitForFunction("window.weft !== undefined", undefined, WAIT);
  return page;
}

const text = (page: Page): Promise<string> => page.evaluate("window.weft.text()");
const isSaved = (page: Page): Promise<boolean> => page.evaluate("window.weft.isSaved()");
/** Types at the end of the last block that has text, or of the first one. */
const type = async (page: Page, words: string): Promise<void> => {
  const blocks = page.locator(".bn-inline-content");
  const written = (await blocks.allTextContents()).findLastIndex((one) => one !== "");
  await blocks.nth(Math.max(0, written)).click();
  await page.keyboard.press("End");
  await page.keyboard.type(words, { delay: 5 });
};
const markdown = async (room: string): Promise<string> =>
  (await api<{ content: string }>("GET", `documents/${room}/formatted-content/?content_format=markdown`))
    .content;

test("two browsers with BlockNote see each other's text, and what is shown as saved is stored", async () => {
  const room = await newDocument();
  const [ana, ben] = [await open(room, "Ana"), await open(room, "Ben")];
  await type(ana, "Hello from Ana.");
  await expect.poll(() => text(ben), WAIT).toContain("Hello from Ana.");
  await type(ben, "");
  await ben.keyboard.press("Enter");
  await ben.keyboard.type("And from Ben, below.");
  await expect.poll(() => text(ana), WAIT).toContain("And from Ben, below.");
  await expect.poll(async () => (await isSaved(ana)) && (await isSaved(ben)), WAIT).toBe(true);
  expect(await text(ana)).toBe(await text(ben));
  expect(await markdown(room)).toMatch(/Hello from Ana\.\s+And from Ben, below\./);
});

test("both type into one paragraph at the same time, and nothing of either is lost or hidden", async () => {
  const room = await newDocument();
  const [ana, ben] = [await open(room, "Ana"), await open(room, "Ben")];
  // The binding of the editor doubles a letter if both type the first one of an empty paragraph at the same time.
  await type(ana, "0");
  await expect.poll(() => text(ben), WAIT).toContain("0");
  await Promise.all([type(ana, "aaaaaaaaaaaaaaaaaaaa"), type(ben, "bbbbbbbbbbbbbbbbbbbb")]);
  const letters = async (page: Page): Promise<string> => [...(await text(page))].toSorted().join("").trim();
  for (const page of [ana, ben])
    await expect.poll(() => letters(page), WAIT).toBe(`0${"a".repeat(20)}${"b".repeat(20)}`);
  expect(await text(ana)).toBe(await text(ben));
});

test("a browser shows a restored version while it is open, and goes on writing", async () => {
  const room = await newDocument();
  const content = Buffer.from("# Plan\n\nfirst").toString("base64");
  await api("PATCH", `documents/${room}/content/`, { content });
  const page = await open(room, "Ana");
  expect(await text(page)).toContain("Plan");
  await type(page, " and second");
  await expect.poll(() => isSaved(page), WAIT).toBe(true);
  const { versions } = await api<{ versions: { version_id: string }[] }>(
    "GET",
    `documents/${room}/versions/`,
  );
  await api("POST", `documents/${room}/versions/${versions.at(-1)?.version_id}/restore/`);
  await expect.poll(() => text(page), WAIT).not.toContain("second");
  await type(page, " then third");
  await expect.poll(() => isSaved(page), WAIT).toBe(true);
  expect(await markdown(room)).toMatch(/first then third/);
});

test("a browser keeps its text while the server is killed, and saves it when the server is back", async () => {
  const room = await newDocument();
  const page = await open(room, "Ana");
  await type(page, "before, ");
  await expect.poll(() => isSaved(page), WAIT).toBe(true);
  const { dataDir } = weft;
  const port = Number(new URL(weft.url).port);
  await weft.kill();
  await type(page, "meanwhile, ");
  expect(await isSaved(page)).toBe(false);
  weft = await start(dataDir, port);
  await type(page, "after");
  await expect.poll(() => isSaved(page), { timeout: 30_000 }).toBe(true);
  expect(await markdown(room)).toContain("before, meanwhile, after");
}, 90_000);
