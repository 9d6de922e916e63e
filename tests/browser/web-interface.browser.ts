import type { Page } from "@playwright/test";
import { beforeAll, expect, test } from "vitest";
import { expectAccessible } from "./accessibility.ts";
import { createWebExample, type WebExample } from "./web-example.ts";
import { callApi, createUser } from "./web-server.ts";
import { webTest } from "./web-test.ts";

const WAIT = { timeout: 15_000 };

const web = webTest();
let example: WebExample;

beforeAll(async () => {
  example = await createWebExample(web.server);
});

const editorOf = (page: Page) => page.getByRole("textbox", { name: "Text of the document" });
const isSaved = (page: Page): Promise<void> => page.getByRole("status").getByText("Saved").waitFor();

test("a user signs in by a link, writes a document, and finds it again after a reload", async () => {
  const page = await web.signIn();
  await page.getByRole("button", { name: "New document" }).first().click();
  await page.getByRole("textbox", { name: "Title" }).fill("Travel");
  await page.keyboard.press("Enter");
  await editorOf(page).click();
  await page.keyboard.type("We leave on Friday.");
  await isSaved(page);
  await page.reload();
  await expect.poll(() => editorOf(page).textContent(), WAIT).toContain("We leave on Friday.");
  expect(await page.getByRole("textbox", { name: "Title" }).inputValue()).toBe("Travel");
  await page.getByRole("main").getByRole("link", { name: "Documents" }).click();
  await page.getByRole("main").getByRole("link", { name: "Travel", exact: true }).waitFor();
});

test("two users see each other's text and who is here", async () => {
  await createUser(web.server, "ben@example.org", "Ben Okri");
  const { id } = await callApi<{ id: string }>(web.server, "POST", "/api/v1.0/documents/", {
    title: "Shared",
  });
  const link = { link_reach: "authenticated", link_role: "editor" };
  await callApi(web.server, "PUT", `/api/v1.0/documents/${id}/link-configuration/`, link);
  const [ana, ben] = [await web.signIn(), await web.signIn({ email: "ben@example.org" })];
  for (const page of [ana, ben]) await page.goto(`${web.server.url}/d/${id}`);
  await editorOf(ana).click();
  await ana.keyboard.type("Hello from Ana.");
  await expect.poll(() => editorOf(ben).textContent(), WAIT).toContain("Hello from Ana.");
  await editorOf(ben).click();
  await ben.keyboard.press("Control+End");
  await ben.keyboard.press("Enter");
  await ben.keyboard.type("And from Ben.");
  await expect.poll(() => editorOf(ana).textContent(), WAIT).toContain("And from Ben.");
  await ana.getByRole("list", { name: "Also here: Ben Okri" }).waitFor();
  await Promise.all([isSaved(ana), isSaved(ben)]);
});

test("a document without access is refused, and so is one that does not exist", async () => {
  await createUser(web.server, "kim@example.org", "Kim Lee");
  const page = await web.signIn({ email: "kim@example.org" });
  await page.goto(web.server.url + example.pages.document);
  await page.getByRole("heading", { name: "No access" }).waitFor();
  await page.goto(`${web.server.url}/d/11111111-1111-4111-8111-111111111111`);
  await page.getByRole("heading", { name: "Not found" }).waitFor();
});

test("a deleted document can be brought back by Undo", async () => {
  await callApi(web.server, "POST", "/api/v1.0/documents/", { title: "Draft" });
  const page = await web.signIn();
  const actions = page.getByRole("main").getByRole("button", { name: "Actions for Draft" });
  await actions.click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Undo" }).click();
  await actions.waitFor();
});

test("a document is shared and copied as Markdown from its row, and its heading is its title", async () => {
  const { id } = await callApi<{ id: string }>(web.server, "POST", "/api/v1.0/documents/", {
    title: "🌍 Trip",
  });
  const page = await web.signIn({ permissions: ["clipboard-read", "clipboard-write"] });
  const actions = page.getByRole("main").getByRole("button", { name: "Actions for 🌍 Trip" });
  await actions.press("Enter");
  await page.getByRole("menuitem", { name: "Share…" }).press("Enter");
  await page.getByRole("dialog", { name: "Share" }).getByLabel("Who can open the link").waitFor();
  await page.keyboard.press("Escape");
  await page.goto(`${web.server.url}/d/${id}`);
  await page.getByRole("heading", { level: 1, name: "Trip", exact: true }).waitFor();
  await editorOf(page).click();
  await page.keyboard.type("We leave on Friday.");
  await isSaved(page);
  await page.getByRole("button", { name: "Actions for this document" }).click();
  await page.getByRole("menuitem", { name: "Copy as Markdown" }).click();
  await page.getByText("The text is copied as Markdown.").waitFor();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied.trim()).toBe("# 🌍 Trip\n\nWe leave on Friday.");
});

test("a list of documents is sorted by the service, and shows at once what others do", async () => {
  const page = await web.signIn();
  const links = page.getByRole("list", { name: /^Documents, / }).getByRole("link");
  const create = (title: string) => callApi(web.server, "POST", "/api/v1.0/documents/", { title });
  await create("Zebra 2");
  await page.goto(`${web.server.url}/?q=zebra`);
  await page.getByLabel("Sort by").selectOption("Title, A to Z");
  await expect.poll(() => links.first().textContent(), WAIT).toBe("Zebra 2");
  expect(new URL(page.url()).searchParams.get("sort")).toBe("title");
  await create("Zebra 1");
  await expect.poll(() => links.first().textContent(), WAIT).toBe("Zebra 1");
  await page.getByLabel("Sort by").selectOption("Title, Z to A");
  await expect.poll(() => links.last().textContent(), WAIT).toBe("Zebra 1");
});

test("the keyboard leads to pages, documents and the list of shortcuts", async () => {
  const page = await web.signIn();
  await page.getByRole("heading", { name: "Documents" }).waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("r");
  await page.getByRole("heading", { name: "Runs" }).waitFor();
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+K");
  await page.getByRole("textbox", { name: "Search or go to" }).fill("Handbook");
  await page.getByRole("dialog").getByText("Handbook", { exact: true }).click();
  await editorOf(page).waitFor();
  await expect.poll(() => page.title(), WAIT).toBe("Handbook · Weft");
  await page.getByRole("main").getByRole("link", { name: "Documents" }).click();
  await page.keyboard.press("Control+K");
  await page.getByRole("textbox", { name: "Search or go to" }).fill("db-1");
  await page.getByRole("dialog").getByText("nightly-backup · db-1").click();
  await page.getByRole("heading", { level: 1, name: "nightly-backup" }).waitFor();
  await page.keyboard.press("Control+K");
  await page.getByRole("textbox", { name: "Search or go to" }).fill("audi");
  await page.getByRole("dialog").getByText("audit", { exact: true }).click();
  await page.getByRole("heading", { level: 1, name: "audit" }).waitFor();
});

test("the search is limited to the open document and those inside it", async () => {
  const create = (path: string, title: string) =>
    callApi<{ id: string }>(web.server, "POST", `/api/v1.0/documents/${path}`, { title });
  const { id } = await create("", "Lighthouse");
  await create(`${id}/children/`, "Lighthouse keepers");
  await create("", "Lighthouse elsewhere");
  const page = await web.open(`/d/${id}`);
  await editorOf(page).waitFor();
  await page.getByRole("button", { name: "Search" }).first().click();
  const dialog = page.getByRole("dialog");
  await page.getByRole("textbox", { name: "Search or go to" }).fill("lighthouse");
  await dialog.getByText("Lighthouse elsewhere").waitFor();
  const filter = dialog.getByRole("button", { name: "In this document" });
  await filter.press("Enter");
  await dialog.getByText("Lighthouse elsewhere").waitFor({ state: "hidden" });
  await dialog.getByText("Lighthouse keepers").waitFor();
  expect(await filter.getAttribute("aria-pressed")).toBe("true");
  await expectAccessible(page);
  await dialog.getByText("Lighthouse keepers").click();
  await expect.poll(() => page.title(), WAIT).toBe("Lighthouse keepers · Weft");
});

test("a failed run shows why, and its step opens by its address", async () => {
  const page = await web.open("/runs?status=failed");
  await page.getByRole("link", { name: "nightly-backup" }).click();
  await page.getByRole("link", { name: /^upload/ }).click();
  const panel = page.getByRole("complementary", { name: "upload" });
  await panel.getByText("the bucket does not exist").first().waitFor();
  await page.reload();
  await panel.getByRole("heading", { name: "Command" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("link", { name: "Log" }).click();
  await page.getByText("| dumping").waitFor();
});

test("without a session the login is shown, and the API reports 401", async () => {
  const context = await web.newContext();
  const page = await context.newPage();
  await page.goto(`${web.server.url}/runs`);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("This server has no identity provider").waitFor();
  expect((await page.request.get(`${web.server.url}/api/v1.0/users/me/`)).status()).toBe(401);
});

test("a lost connection is shown, nothing that was typed is lost, and it recovers", async () => {
  const page = await web.signIn();
  await page.getByRole("button", { name: "New document" }).first().click();
  await page.getByRole("textbox", { name: "Title" }).waitFor();
  await editorOf(page).click();
  await page.context().setOffline(true);
  await page.keyboard.type("Written on a train.");
  await page
    .getByRole("status")
    .getByText(/Saving|Offline/)
    .waitFor();
  await page.context().setOffline(false);
  await page.getByRole("status").getByText("Saved").waitFor({ timeout: 45_000 });
  await page.reload();
  await expect.poll(() => editorOf(page).textContent(), WAIT).toContain("Written on a train.");
});

test("axe finds nothing on any page", async () => {
  const page = await web.signIn();
  // The other lists are the same page.
  const { favorites: _favorites, trash: _trash, ...pages } = example.pages;
  for (const path of Object.values(pages)) {
    await page.goto(web.server.url + path);
    await page.getByRole("heading", { level: 1 }).first().waitFor();
    await page.waitForLoadState("networkidle");
    await expectAccessible(page);
  }
}, 300_000);
