import { type Page, expect as playwrightExpect } from "@playwright/test";
import { beforeAll, test } from "vitest";
import { callApi, createUser, logIn } from "./web-server.ts";
import { webTest } from "./web-test.ts";

/** A loaded machine is slow. */
const expect = playwrightExpect.configure({ timeout: 45_000 });

const web = webTest();

beforeAll(async () => {
  await createUser(web.server, "ben@example.com", "Ben Ode");
});

const create = async (title: string): Promise<string> =>
  (await callApi<{ id: string }>(web.server, "POST", "/api/v1.0/documents/", { title })).id;
const editorOf = (page: Page) => page.getByRole("textbox", { name: "Text of the document" });
const saveState = (page: Page) => page.locator("[data-save]");
const databases = (page: Page): Promise<string[]> =>
  page.evaluate(async () => (await indexedDB.databases()).map(({ name }) => name ?? ""));
const copiesOf = async (page: Page, id: string): Promise<number> =>
  (await databases(page)).filter((name) => name.includes(id)).length;

/** Keeps a transaction on the content open as long as the page lives. */
async function holdDatabase(name: string): Promise<void> {
  const db = await new Promise<IDBDatabase>((resolve) => {
    const request = indexedDB.open(name);
    request.onsuccess = () => resolve(request.result);
  });
  const store = db.transaction("updates", "readwrite").objectStore("updates");
  const hold = (): void => {
    store.count().onsuccess = hold;
  };
  hold();
}

test("what is typed offline is kept when the page is left, shown again offline, and sent later", async () => {
  const id = await create("Train");
  const context = await web.newContext();
  const page = await logIn(web.server, context);
  await page.goto(`${web.server.url}/d/${id}`);
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

  // The browser's database writes nothing more until the page is left.
  await page.evaluate(holdDatabase, (await databases(page)).find((name) => name.includes(id)) ?? "");
  await editorOf(page).click();
  await page.keyboard.press("Control+End");
  await page.keyboard.type(" Not written.");
  page.once("dialog", (dialog) => void dialog.accept());
  await page.goto("about:blank");

  await context.setOffline(false);
  await page.goto(`${web.server.url}/d/${id}`);
  await expect(editorOf(page)).toContainText("Sent. Not sent. Not written.");
  await expect(saveState(page)).toHaveAttribute("data-save", "saved");
  await expect
    .poll(() => page.evaluate(() => Object.keys(localStorage).filter((key) => key.includes("unwritten"))))
    .toEqual([]);
  const other = await web.open(`/d/${id}`);
  await expect(editorOf(other)).toContainText("Sent. Not sent. Not written.");
});

test("what a closed tab has not sent is not forgotten when another tab of the document is saved", async () => {
  const id = await create("Two tabs");
  const first = await web.open(`/d/${id}`);
  const context = first.context();
  const second = await context.newPage();
  await second.goto(`${web.server.url}/d/${id}`);
  for (const page of [first, second]) {
    await editorOf(page).click();
    await page.keyboard.type("Sent. ");
    await expect(saveState(page)).toHaveAttribute("data-save", "saved");
  }
  await expect.poll(() => copiesOf(second, id)).toBe(1);
  await context.setOffline(true);
  for (const page of [first, second]) {
    await editorOf(page).click();
    await page.keyboard.press("Control+End");
    await page.keyboard.type(page === first ? "From the first." : "From the second.");
    await expect(saveState(page)).toContainText(/not sent/);
  }
  await first.close();
  await context.setOffline(false);
  await expect(saveState(second)).toHaveAttribute("data-save", "saved");
  const logOut = async (): Promise<void> => {
    await second.getByRole("button", { name: /^Account/ }).click();
    await second.getByRole("menuitem", { name: "Log out" }).click();
  };
  await logOut();
  const question = second.getByRole("dialog", { name: "Log out?" });
  await expect(question).toContainText("1 document");
  await question.getByRole("button", { name: "Stay signed in" }).click();

  await second.reload();
  await expect(editorOf(second)).toContainText("From the first.");
  await expect(saveState(second)).toHaveAttribute("data-save", "saved");
  await logOut();
  await expect(second.getByRole("heading", { name: "Sign in" })).toBeVisible();
});

test("the copy is deleted when access is revoked, and everything at logout", async () => {
  const id = await create("Shared for a while");
  const link = { link_reach: "authenticated", link_role: "editor" };
  await callApi(web.server, "PUT", `/api/v1.0/documents/${id}/link-configuration/`, link);
  const page = await web.open(`/d/${id}`, { email: "ben@example.com" });
  await editorOf(page).click();
  await page.keyboard.type("Secret.");
  await expect(saveState(page)).toHaveAttribute("data-save", "saved");
  await expect.poll(() => copiesOf(page, id)).toBe(1);
  await callApi(web.server, "PUT", `/api/v1.0/documents/${id}/link-configuration/`, {
    link_reach: "restricted",
  });
  await expect(page.getByRole("heading", { name: "No access" })).toBeVisible();
  await expect(page.getByText("Secret.")).toHaveCount(0);
  await expect.poll(() => copiesOf(page, id)).toBe(0);

  const own = await web.signIn();
  const mine = await create("Mine");
  await own.goto(`${web.server.url}/d/${mine}`);
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
  const page = await web.signIn();
  const dialogs: string[] = [];
  page.on("dialog", (dialog) => {
    dialogs.push(dialog.message());
    void dialog.dismiss();
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
  expect(dialogs).toEqual([]);
});
