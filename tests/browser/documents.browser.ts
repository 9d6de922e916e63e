import { type Browser, type BrowserContext, type Page, expect as playwrightExpect } from "@playwright/test";
import { afterAll, beforeAll, onTestFinished, test } from "vitest";
import type { TestServer } from "../../lib/testing/test-server.ts";
import { callApi, createUser, launchChromium, logIn, startWebServer } from "./web-server.ts";

/** A loaded machine is slow. */
const expect = playwrightExpect.configure({ timeout: 45_000 });
const DOCUMENTS = "/api/v1.0/documents/";

let browser: Browser;
let weft: TestServer;

beforeAll(async () => {
  [browser, weft] = await Promise.all([
    launchChromium(),
    startWebServer({ COLLABORATION_WS_INACTIVITY_TIMEOUT: "1" }),
  ]);
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
  (await callApi<{ id: string }>(weft, "POST", DOCUMENTS, { title })).id;
const titleOf = async (id: string): Promise<string | null> =>
  (await callApi<{ title: string | null }>(weft, "GET", `${DOCUMENTS}${id}/`)).title;
const setLink = (id: string, reach: string, role: string): Promise<unknown> =>
  callApi(weft, "PUT", `${DOCUMENTS}${id}/link-configuration/`, { link_reach: reach, link_role: role });
const editorOf = (page: Page) => page.getByRole("textbox", { name: "Text of the document" });
const titleField = (page: Page) => page.getByRole("textbox", { name: "Title" });
const saveState = (page: Page) => page.locator("[data-save]");

/** Opens a document, and types without a connection what is not sent. */
async function typeOffline(page: Page, id: string): Promise<void> {
  await page.goto(`${weft.url}/d/${id}`);
  await editorOf(page).click();
  await page.keyboard.type("Sent. ");
  await expect(saveState(page)).toHaveAttribute("data-save", "saved");
  const copies = () => page.evaluate(async () => (await indexedDB.databases()).map(({ name }) => name));
  await expect.poll(async () => (await copies()).some((name) => name?.includes(id))).toBe(true);
  await page.context().setOffline(true);
  await page.keyboard.type("Not sent.");
  await expect(saveState(page)).toContainText(/Offline, \d+ changes? not sent/);
}

test("what was not sent when the session ended is sent after the next login; until then nothing is shown", async () => {
  const id = await create("Night train");
  const context = await newContext();
  const page = await logIn(weft, context);
  await typeOffline(page, id);
  await callApi(weft, "DELETE", "/api/v1.0/users/me/sessions/");
  await context.setOffline(false);
  await expect(page.getByRole("heading", { name: "Sign in" })).toBeVisible();
  await expect(page.getByText("Night train")).toHaveCount(0);
  await expect(page.getByText("Not sent.")).toHaveCount(0);

  const again = await logIn(weft, context);
  await again.goto(`${weft.url}/d/${id}`);
  await expect(editorOf(again)).toContainText("Sent. Not sent.");
  await expect(saveState(again)).toHaveAttribute("data-save", "saved");
  const other = await logIn(weft, await newContext());
  await other.goto(`${weft.url}/d/${id}`);
  await expect(editorOf(other)).toContainText("Sent. Not sent.");
});

test("a page whose session has become that of another user shows nothing of the first one", async () => {
  await create("Of the owner alone");
  const context = await newContext();
  const page = await logIn(weft, context);
  await expect(page.getByRole("main").getByRole("link", { name: "Of the owner alone" })).toBeVisible();
  const navigation = page.getByRole("navigation", { name: "Main" });
  await navigation.getByRole("link", { name: "Runs" }).click();
  await logIn(weft, context, "ben@example.com");
  // Lists that were read before are all that can be shown.
  await page.route(/\/api\/v1\.0\/documents\?/, () => undefined);
  await expect(async () => {
    await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange", { bubbles: true })));
    await expect(page.getByRole("button", { name: /^Account/ })).toContainText("Ben Ode", { timeout: 2_000 });
  }).toPass();
  await navigation.getByRole("link", { name: "Documents" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Documents" })).toBeVisible();
  await expect(page.getByText("Of the owner alone")).toHaveCount(0);
});

test("a logout that would delete what was not sent asks first", async () => {
  const id = await create("Left open");
  const context = await newContext();
  const page = await logIn(weft, context);
  await typeOffline(page, id);
  await page.getByRole("main").getByRole("link", { name: "Documents" }).click();
  await context.setOffline(false);
  await page.getByRole("button", { name: /^Account/ }).click();
  await page.getByRole("menuitem", { name: "Log out" }).click();
  const question = page.getByRole("dialog", { name: "Log out?" });
  await expect(question).toContainText("1 document");
  await question.getByRole("button", { name: "Stay signed in" }).click();
  await page.goto(`${weft.url}/d/${id}`);
  await expect(saveState(page)).toHaveAttribute("data-save", "saved");
  await page.getByRole("button", { name: /^Account/ }).click();
  await page.getByRole("menuitem", { name: "Log out" }).click();
  await expect(page.getByRole("heading", { name: "Sign in" })).toBeVisible();
});

test("changes that the user may no longer save are reported as not saved", async () => {
  const id = await create("Read only from now on");
  await setLink(id, "authenticated", "editor");
  const page = await logIn(weft, await newContext(), "ben@example.com");
  await typeOffline(page, id);
  await setLink(id, "authenticated", "reader");
  await page.context().setOffline(false);
  await expect(saveState(page)).toHaveText("Not saved: You may no longer edit this document.");
});

test("a title is saved although it ends with a space, the page is left at once, or there was no connection", async () => {
  const id = await create("Draft");
  const page = await logIn(weft, await newContext());
  await page.getByRole("main").getByRole("link", { name: "Draft" }).click();
  await expect(saveState(page)).toHaveAttribute("data-save", "saved");
  await titleField(page).fill("With a space ");
  await expect.poll(() => titleOf(id)).toBe("With a space");
  await expect(saveState(page)).toHaveAttribute("data-save", "saved");

  await titleField(page).fill("Left at once");
  await page.evaluate(() => history.back());
  await expect.poll(() => titleOf(id)).toBe("Left at once");

  await page.goto(`${weft.url}/d/${id}`);
  await expect(saveState(page)).toHaveAttribute("data-save", "saved");
  await page.context().setOffline(true);
  await titleField(page).fill("Without a connection");
  await expect(saveState(page)).toHaveText(/^(?:Saving…|Offline, 1 change not sent)$/);
  await page.context().setOffline(false);
  await expect(saveState(page)).toHaveAttribute("data-save", "saved");
  expect(await titleOf(id)).toBe("Without a connection");
});

test("what is typed while a comment is sent stays", async () => {
  const id = await create("Discussed");
  const page = await logIn(weft, await newContext());
  let send = (): void => undefined;
  const isTyped = new Promise<void>((resolve) => {
    send = resolve;
  });
  await page.route(/\/threads\/?$/, async (route) => {
    if (route.request().method() === "POST") await isTyped;
    await route.continue();
  });
  await page.goto(`${weft.url}/d/${id}?panel=comments`);
  const field = page.getByRole("textbox", { name: "Add a comment" });
  await field.fill("First.");
  await field.press("Control+Enter");
  await field.pressSequentially(" Second.");
  send();
  await expect(page.locator("[data-thread]").getByText("First.", { exact: true })).toBeVisible();
  await expect(field).toHaveValue("First. Second.");
});

test("documents open in browsers that can neither parse addresses by URL.parse nor list databases", async () => {
  const id = await create("In an older browser");
  const context = await newContext();
  await context.addInitScript(() => {
    Reflect.deleteProperty(URL, "parse");
    Reflect.deleteProperty(IDBFactory.prototype, "databases");
  });
  const page = await logIn(weft, context);
  await expect(page.getByRole("treeitem", { name: "In an older browser" })).toBeVisible();
  await page.goto(`${weft.url}/d/${id}`);
  await expect(saveState(page)).toHaveAttribute("data-save", "saved");
  await page.getByRole("button", { name: "Help" }).click();
  await expect(page.getByRole("menuitem", { name: "About Weft" })).toBeVisible();
});

test("a title and an emoji that somebody gives are seen at once where others have the document open", async () => {
  const id = await create("Autumn");
  await setLink(id, "authenticated", "editor");
  const ana = await logIn(weft, await newContext());
  const ben = await logIn(weft, await newContext(), "ben@example.com");
  for (const page of [ana, ben]) {
    await page.goto(`${weft.url}/d/${id}`);
    await expect(saveState(page)).toHaveAttribute("data-save", "saved");
  }
  const title = "Winter <b>plan</b>";
  await titleField(ana).fill(title);
  await expect(titleField(ben)).toHaveValue(title);
  await expect(ben).toHaveTitle(new RegExp(`^${title}`));
  await expect(ben.getByRole("treeitem", { name: title })).toBeVisible();
  await ben.getByRole("button", { name: "Add an emoji to the title" }).click();
  await ben.getByRole("dialog", { name: "Emoji of the title" }).getByRole("option").first().click();
  const emoji = ana.getByRole("button", { name: /^Emoji of the title: / });
  await expect(emoji).toBeVisible();
  // What somebody is typing stays.
  await titleField(ana).press("End");
  await titleField(ana).pressSequentially(" of Ana");
  await expect(titleField(ben)).toHaveValue(`${title} of Ana`);
});

test("the focus returns to the button of the menu from which a dialog was opened", async () => {
  await create("Focused");
  const page = await logIn(weft, await newContext());
  const button = page.getByRole("main").getByRole("button", { name: "Actions for Focused" });
  for (const [item, title] of [
    ["Share", "Share"],
    ["Export…", "Export Focused"],
    ["Share", "Share"],
  ] as const) {
    await button.press("Enter");
    await page.getByRole("menuitem", { name: item }).press("Enter");
    await page.getByRole("dialog", { name: title }).waitFor();
    await page.keyboard.press("Escape");
    await expect(page.getByRole("dialog")).toHaveCount(0);
    await expect(button).toBeFocused();
  }
});

test("the link of a document is copied where browsers have no clipboard, such as without https", async () => {
  const id = await create("Copied");
  const context = await newContext();
  await context.addInitScript(() => Object.defineProperty(navigator, "clipboard", { value: undefined }));
  const page = await logIn(weft, context);
  await page.goto(`${weft.url}/d/${id}`);
  await page.getByRole("button", { name: "Share" }).click();
  await page.getByRole("button", { name: "Copy the link" }).click();
  await expect(page.getByRole("status").filter({ hasText: "Copied." })).toBeVisible();
});

test("each block has the direction of its text, and code is read from left to right", async () => {
  const id = await create("Directions");
  const text =
    "# \u0645\u0631\u062d\u0628\u0627\n\nHello\n\n- \u05e9\u05dc\u05d5\u05dd\n\n```\n\u0645\u0631\u062d\u0628\u0627\n```";
  await callApi(weft, "PATCH", `${DOCUMENTS}${id}/content/`, {
    content: Buffer.from(text).toString("base64"),
  });
  const page = await logIn(weft, await newContext());
  await page.goto(`${weft.url}/d/${id}`);
  const directionOf = (block: string): Promise<string> =>
    page
      .locator(`[data-content-type=${block}]`)
      .first()
      .evaluate((element) => getComputedStyle(element).direction);
  await editorOf(page).getByText("Hello").waitFor();
  for (const block of ["heading", "bulletListItem"]) expect(await directionOf(block)).toBe("rtl");
  for (const block of ["paragraph", "codeBlock"]) expect(await directionOf(block)).toBe("ltr");
});

test("a page that is hidden for too long disconnects once all is saved, and connects again when it is shown", async () => {
  const id = await create("Night shift");
  const page = await logIn(weft, await newContext());
  const connecting = page.waitForEvent("websocket");
  await page.goto(`${weft.url}/d/${id}`);
  const socket = await connecting;
  await editorOf(page).click();
  await page.keyboard.type("Seen. ");
  await expect(saveState(page)).toHaveAttribute("data-save", "saved");
  const show = (state: string): Promise<void> =>
    page.evaluate((value) => {
      Object.defineProperty(document, "visibilityState", { configurable: true, get: () => value });
      document.dispatchEvent(new Event("visibilitychange"));
    }, state);
  const closed = socket.waitForEvent("close");
  await show("hidden");
  await closed;
  await expect(saveState(page)).toHaveAttribute("data-save", "offline");
  await page.keyboard.type("Not yet.");
  await show("visible");
  await expect(saveState(page)).toHaveAttribute("data-save", "saved");
  const other = await logIn(weft, await newContext());
  await other.goto(`${weft.url}/d/${id}`);
  await expect(editorOf(other)).toContainText("Seen. Not yet.");
});
