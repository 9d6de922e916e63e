import puppeteer, { type Browser, type Page } from "puppeteer-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { TestServer } from "../../lib/testing/test-server.ts";
import { callApi, createUser, startWebServer } from "./web-server.ts";

/* The main journeys once more in Firefox, through WebDriver BiDi. */
const FIREFOX = process.env.FIREFOX ?? "/usr/bin/firefox-esr";
const WAIT = { timeout: 30_000 };

let browser: Browser;
let weft: TestServer;
let page: Page;

beforeAll(async () => {
  [browser, weft] = await Promise.all([
    puppeteer.launch({ browser: "firefox", executablePath: FIREFOX, headless: true }),
    startWebServer(),
  ]);
  page = await browser.newPage();
  page.setDefaultTimeout(WAIT.timeout);
  await page.setViewport({ width: 1280, height: 900 });
}, 120_000);
afterAll(async () => {
  await browser?.close();
  await weft?.[Symbol.asyncDispose]();
});

/** Waits for the first element that a selector finds, and clicks on it. */
const click = (selector: string): Promise<void> => page.locator(selector).click();
const fill = (selector: string, text: string): Promise<void> => page.locator(selector).fill(text);
/** Waits until the text of an element contains another. */
const hasText = (selector: string, text: string): Promise<unknown> =>
  page.waitForFunction(
    (one, part) => [...document.querySelectorAll(one)].some(({ textContent }) => textContent.includes(part)),
    WAIT,
    selector,
    text,
  );
const EDITOR = "[data-editor] [contenteditable]";

test("a user logs in, and writes a document that is saved and there after a reload", async () => {
  const { url } = await callApi<{ url: string }>(weft, "POST", "/api/v1.0/login-links/", {});
  await page.goto(url);
  await click("::-p-aria([name='New document'][role='button'])");
  await fill("::-p-aria([name='Title'][role='textbox'])", "Fox");
  await click(EDITOR);
  await page.keyboard.type("Written in Firefox.");
  await page.waitForSelector("[data-save='saved']");
  await page.reload();
  await hasText(EDITOR, "Written in Firefox.");
});

test("the document is shared with a user, and commented on", async () => {
  await createUser(weft, "kim@example.org", "Kim Lee");
  await click("::-p-aria([name='Share'][role='button'])");
  await fill("::-p-aria([name='Name or email address'])", "kim@example.org");
  await click("::-p-aria([name='Add'][role='button'])");
  await hasText("[role='dialog'] li", "Kim Lee");
  await page.keyboard.press("Escape");
  await page.waitForSelector("[role='dialog']", { hidden: true });
  await click("::-p-aria([name='Comments'][role='button'])");
  await fill("aside textarea", "Read by a fox.");
  await click("aside form button[type='submit']");
  await hasText("aside", "Read by a fox.");
});

test("the tree leads to a document, and the search finds its text", async () => {
  const { id } = await callApi<{ id: string }>(weft, "POST", "/api/v1.0/documents/", { title: "Den" });
  await callApi(weft, "POST", `/api/v1.0/documents/${id}/children/`, { title: "Below the den" });
  await page.goto(weft.url);
  await page.waitForSelector("[role='treeitem'][aria-label='Den']");
  await page.focus("[role='tree']");
  await page.keyboard.type("Den");
  await page.keyboard.press("ArrowRight");
  await page.waitForSelector("[role='treeitem'][aria-label='Below the den']");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.title.startsWith("Below the den"), WAIT);
  await page.keyboard.down("Control");
  await page.keyboard.press("k");
  await page.keyboard.up("Control");
  await fill("::-p-aria([name='Search or go to'][role='textbox'])", "Written in Firefox");
  await hasText("[role='dialog'] [data-action]", "Fox");
  await page.keyboard.press("Enter");
  await hasText(EDITOR, "Written in Firefox.");
});

test("runs are listed, and a workflow is run and its run opened", async () => {
  await weft.storeWorkflow('name: bark\nsteps:\n  - {name: say, type: bash, command: "echo woof"}');
  await weft.run({ module: "bark", target: "den" });
  await page.goto(`${weft.url}/runs`);
  await hasText("main", "bark");
  await page.goto(`${weft.url}/workflows/bark?panel=run`);
  await click("::-p-aria([name='Start the run'][role='button'])");
  await page.waitForFunction(() => location.pathname.startsWith("/runs/"), WAIT);
  await hasText("main", "Completed");
  await hasText("h1", "bark");
});

test("the user logs out, and nothing is left on the device", async () => {
  await click("header > div > div:last-child > button:last-of-type");
  await click("[role='menuitem'][href='/api/v1.0/logout/']");
  await hasText("h2", "Sign in");
  const left = await page.evaluate(async () => (await indexedDB.databases()).length);
  expect(left).toBe(0);
});
