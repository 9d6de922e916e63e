import { type Browser, type BrowserContext, type Page, expect as playwrightExpect } from "@playwright/test";
import { afterAll, beforeAll, onTestFinished, test } from "vitest";
import type { TestServer } from "../../lib/testing/test-server.ts";
import { callApi, createUser, launchChromium, logIn, startWebServer } from "./web-server.ts";

/** A loaded machine is slow. */
const expect = playwrightExpect.configure({ timeout: 45_000 });

let browser: Browser;
let weft: TestServer;

beforeAll(async () => {
  [browser, weft] = await Promise.all([launchChromium(), startWebServer()]);
  await createUser(weft, "ben@example.com", "Ben Ode");
});
afterAll(async () => {
  await browser?.close();
  await weft?.[Symbol.asyncDispose]();
});

async function newContext(): Promise<BrowserContext> {
  const context = await browser.newContext();
  onTestFinished(() => context.close());
  return context;
}

const create = async (title: string): Promise<string> =>
  (await callApi<{ id: string }>(weft, "POST", "/api/v1.0/documents/", { title })).id;
const editorOf = (page: Page) => page.getByRole("textbox", { name: "Text of the document" });
const saveState = (page: Page) => page.locator("[data-save]");
const databases = (page: Page): Promise<string[]> =>
  page.evaluate(async () => (await indexedDB.databases()).map(({ name }) => name ?? ""));
const copiesOf = async (page: Page, id: string): Promise<number> =>
  (await databases(page)).filter((name) => name.includes(id)).length;

test("what is typed offline is kept when the page is left, shown again offline, and sent later", async () => {
  const id = await create("Train");
  const context = await newContext();
  const page = await logIn(weft, context);
  await page.goto(`${weft.url}/d/${id}`);
  await editorOf(page).click();
  await page.keyboard.type("Sent. ");
  await expect(saveState(page)).toHaveAttribute("data-save", "saved");
  await expect.poll(() => copiesOf(page, id)).toBe(1);

  await context.setOffline(true);
  await page.keyboard.type("Not sent.");
  await expect(saveState(page)).toContainText(/Offline, \d+ changes? not sent/);
  await page.getByRole("main").getByRole("link", { name: "Documents" }).click();
  await page.getByRole("treeitem", { name: "Train" }).getByRole("link").click();
  await expect(editorOf(page)).toContainText("Sent. Not sent.");
  await expect(saveState(page)).toContainText(/not sent/);

  await context.setOffline(false);
  await expect(saveState(page)).toHaveAttribute("data-save", "saved");
  const other = await logIn(weft, await newContext());
  await other.goto(`${weft.url}/d/${id}`);
  await expect(editorOf(other)).toContainText("Sent. Not sent.");
});

test("the copy is deleted when access is revoked, and everything at logout", async () => {
  const id = await create("Shared for a while");
  const link = { link_reach: "authenticated", link_role: "editor" };
  await callApi(weft, "PUT", `/api/v1.0/documents/${id}/link-configuration/`, link);
  const page = await logIn(weft, await newContext(), "ben@example.com");
  await page.goto(`${weft.url}/d/${id}`);
  await editorOf(page).click();
  await page.keyboard.type("Secret.");
  await expect(saveState(page)).toHaveAttribute("data-save", "saved");
  await expect.poll(() => copiesOf(page, id)).toBe(1);
  await callApi(weft, "PUT", `/api/v1.0/documents/${id}/link-configuration/`, { link_reach: "restricted" });
  await expect(page.getByRole("heading", { name: "No access" })).toBeVisible();
  await expect(page.getByText("Secret.")).toHaveCount(0);
  await expect.poll(() => copiesOf(page, id)).toBe(0);

  const own = await logIn(weft, await newContext());
  const mine = await create("Mine");
  await own.goto(`${weft.url}/d/${mine}`);
  await expect.poll(() => copiesOf(own, mine)).toBe(1);
  await own.evaluate(() => {
    localStorage.setItem("weft.language", "en");
    localStorage.setItem("weft.narrow", "true");
    sessionStorage.setItem("note", "private");
  });
  await own.getByRole("button", { name: /^Account/ }).click();
  await own.getByRole("menuitem", { name: "Log out" }).click();
  await expect(own.getByRole("heading", { name: "Sign in" })).toBeVisible();
  const left = await own.evaluate(() => [Object.keys(localStorage), Object.keys(sessionStorage)]);
  expect(left).toEqual([["weft.language"], []]);
  await expect.poll(() => databases(own)).toEqual([]);
});

test("titles and names full of markup and direction marks display as text", async () => {
  const titles = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "\u202Etxt.exe reversed",
    "<b>bold</b> & &amp; {{count}} ${1}",
  ];
  for (const title of titles) await create(title);
  const page = await logIn(weft, await newContext());
  const problems: string[] = [];
  page.on("dialog", (dialog) => {
    problems.push(dialog.message());
    void dialog.dismiss();
  });
  page.on("console", (message) => {
    if (message.text().includes("Content Security Policy")) problems.push(message.text());
  });
  await page.reload();
  for (const title of titles) {
    const link = page.getByRole("main").getByRole("link", { name: title, exact: true });
    await expect(link).toHaveText(title);
    await expect(link).toHaveAttribute("dir", "auto");
    await expect(page.getByRole("treeitem", { name: title, exact: true })).toBeVisible();
  }
  await page
    .getByRole("main")
    .getByRole("button", { name: `Actions for ${titles[1]}` })
    .click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await expect(page.getByRole("status").filter({ hasText: `${titles[1]} is in the trash.` })).toBeVisible();
  expect(problems).toEqual([]);
});
