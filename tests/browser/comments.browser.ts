import type { Locator, Page } from "@playwright/test";
import { beforeAll, test } from "vitest";
import * as Y from "yjs";
import { expectAccessible } from "./accessibility.ts";
import { callApi, createUser } from "./web-server.ts";
import { expectPage as expect, webTest } from "./web-test.ts";

const web = webTest();
let ben: { id: string };

beforeAll(async () => {
  await createUser(web.server, "ben@example.com", "Ben Ode");
  [ben] = (await callApi<{ id: string }[]>(web.server, "GET", "/api/v1.0/users/?q=ben@example.com")) as [
    { id: string },
  ];
});

const documents = "/api/v1.0/documents/";

/** Creates a document that Ben may access, too. */
async function newDocument(role: string): Promise<string> {
  const { id } = await callApi<{ id: string }>(web.server, "POST", documents, { title: "Plan" });
  await callApi(web.server, "POST", `${documents}${id}/accesses/`, { user_id: ben.id, role });
  return id;
}

/** Sets the text of a document, a paragraph per line, as an edit of `document`. */
async function save(id: string, document: Y.Doc, lines: readonly string[]): Promise<void> {
  const group = new Y.XmlElement("blockGroup");
  group.insert(
    0,
    lines.map((line, at) => {
      const container = new Y.XmlElement("blockContainer");
      container.setAttribute("id", `block-${at}`);
      const paragraph = new Y.XmlElement("paragraph");
      paragraph.insert(0, [new Y.XmlText(line)]);
      container.insert(0, [paragraph]);
      return container;
    }),
  );
  const fragment = document.getXmlFragment("document-store");
  document.transact(() => {
    fragment.delete(0, fragment.length);
    fragment.insert(0, [group]);
  });
  const content = Buffer.from(Y.encodeStateAsUpdate(document)).toString("base64");
  await callApi(web.server, "PATCH", `${documents}${id}/content/`, { content });
}

test("an editor comments on a selection; another user sees it, replies and reacts; it is resolved and reopened", async () => {
  const id = await newDocument("editor");
  await save(id, new Y.Doc(), ["We meet on Monday.", "The end."]);
  const [owner, other] = await Promise.all([web.signIn(), web.signIn({ email: "ben@example.com" })]);
  await Promise.all([
    owner.goto(`${web.server.url}/d/${id}`),
    other.goto(`${web.server.url}/d/${id}?panel=comments`),
  ]);
  await owner.getByText("We meet on Monday.").click({ clickCount: 3 });
  await owner.getByRole("button", { name: "Comment", exact: true }).click();
  const panel = owner.getByRole("complementary", { name: "Comments" });
  await expect(panel.getByLabel("Add a comment")).toBeFocused();
  await panel.getByLabel("Add a comment").fill("Why <b>Monday</b>?");
  await panel.getByRole("button", { name: "Send" }).click();
  await expect(panel.getByText("Why <b>Monday</b>?")).toBeVisible();
  await expect(owner.locator("[data-bn-thread-id]")).toHaveText("We meet on Monday.");
  await expect(owner.locator("[data-show-selection]")).toHaveCount(0);

  const theirs = other.getByRole("complementary", { name: "Comments" });
  await expect(theirs.getByRole("button", { name: "We meet on Monday." })).toBeVisible();
  await theirs.getByLabel("Reply").fill("It is free.");
  await other.keyboard.press("Control+Enter");
  await expect(theirs.getByText("It is free.")).toBeVisible();
  const thumb = theirs.getByRole("button", { name: "React with 👍" }).first();
  await thumb.click();
  await expect(theirs.getByRole("button", { name: "👍, 1 person" })).toBeVisible();
  await expectAccessible(other, "aside", "[role=dialog]");

  await owner.reload();
  await expect(panel.getByText("It is free.")).toBeVisible();
  await panel.getByRole("button", { name: "Resolve", exact: true }).click();
  await expect(panel.getByText("It is free.")).toBeHidden();
  await panel.getByRole("link", { name: "Resolved" }).click();
  await panel.getByRole("button", { name: "Reopen" }).click();
  await expect(panel.getByText("No thread is resolved.")).toBeVisible();
  await panel.getByRole("button", { name: "Close" }).click();
  await owner.locator("[data-bn-thread-id]").click();
  await expect(panel.getByText("It is free.")).toBeVisible();
});

test("a commenter's comment quotes the selected text", async () => {
  const id = await newDocument("commenter");
  await save(id, new Y.Doc(), ["We meet on Monday."]);
  const page = await web.open(`/d/${id}?panel=comments`, { email: "ben@example.com" });
  await page.getByText("We meet on Monday.").click({ clickCount: 3 });
  const panel = page.getByRole("complementary", { name: "Comments" });
  await panel.getByLabel("Add a comment").fill("No.");
  await panel.getByRole("button", { name: "Send" }).click();
  await expect(panel.getByRole("list", { name: "Threads" })).toContainText("“We meet on Monday.”");
});

test("authors edit and delete their comments; a thread without comments disappears", async () => {
  const id = await newDocument("editor");
  await save(id, new Y.Doc(), ["We meet on Monday.", "The end."]);
  const comments = `${documents}${id}/threads/`;
  const thread = await callApi<{ id: string }>(web.server, "POST", comments, { body: "Of the owner" });
  const page = await web.open(`/d/${id}?panel=comments`, { email: "ben@example.com" });
  const panel = page.getByRole("complementary", { name: "Comments" });
  const item = panel.getByRole("listitem").filter({ hasText: "Of the owner" }).first();
  await item.getByLabel("Reply").fill("Wrogn");
  await page.keyboard.press("Control+Enter");
  await expect(item.getByText("Wrogn")).toBeVisible();
  // Ben has no button at the comment of the owner.
  await expect(item.getByRole("button", { name: "Edit the comment" })).toHaveCount(1);
  await item.getByRole("button", { name: "Edit the comment" }).press("Enter");
  await page.keyboard.press("Escape");
  await expect(item.getByRole("button", { name: "Edit the comment" })).toBeFocused();
  await page.keyboard.press("Enter");
  await item.getByRole("textbox", { name: "Edit the comment" }).fill("Right");
  await expectAccessible(page, "aside", "[role=dialog]");
  await item.getByRole("button", { name: "Save" }).click();
  await expect(item.getByText("Right")).toBeVisible();
  await expect(item.getByText("edited")).toBeVisible();

  await item.getByRole("button", { name: "Delete the comment" }).press("Enter");
  const question = page.getByRole("dialog", { name: "Delete this comment?" });
  await question.getByRole("button", { name: "Delete" }).press("Enter");
  await expect(item.getByText("Right")).toHaveCount(0);
  await expect(item).toBeFocused();

  const owner = await web.open(`/d/${id}?panel=comments&thread=${thread.id}`);
  const theirs = owner.getByRole("complementary", { name: "Comments" });
  await theirs.getByRole("button", { name: "Delete the comment" }).press("Enter");
  await owner.getByRole("dialog").getByRole("button", { name: "Delete" }).press("Enter");
  await expect(theirs.getByText("There are no comments.")).toBeVisible();
  await expect(theirs.getByRole("heading", { name: "Comments" })).toBeFocused();
  expect(await callApi(web.server, "GET", comments)).toEqual([]);
});

test("on a wide screen, threads are beside their text, also after edits; on a small one below each other", async () => {
  const id = await newDocument("editor");
  const lines = Array.from({ length: 30 }, (_, at) => `Line ${at}.`);
  await save(id, new Y.Doc(), lines);
  const page = await web.signIn();
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.goto(`${web.server.url}/d/${id}?panel=comments`);
  const panel = page.getByRole("complementary", { name: "Comments" });
  const comment = async (line: string): Promise<void> => {
    await page.getByText(line, { exact: true }).click({ clickCount: 3 });
    await panel.getByLabel("Add a comment").fill(`About ${line}`);
    await panel.getByRole("button", { name: "Send" }).click();
    await expect(panel.getByText(`About ${line}`)).toBeVisible();
  };
  await comment("Line 9.");
  await comment("Line 20.");
  const threads = panel.getByRole("list", { name: "Threads" });
  const top = async (text: string, scope: Page | Locator = page): Promise<number> =>
    (await scope.getByText(text, { exact: true }).boundingBox())?.y ?? Number.NaN;
  const distance = async (line: string): Promise<number> =>
    Math.abs((await top(line, page.locator("article"))) - (await top(line, threads)));
  await expect.poll(() => distance("Line 9.")).toBeLessThan(40);
  await expect.poll(() => distance("Line 20.")).toBeLessThan(40);
  const before = await top("Line 20.", threads);
  await page.getByText("Line 2.", { exact: true }).click();
  for (let line = 0; line < 4; line += 1) await page.keyboard.press("Enter");
  await expect.poll(() => top("Line 20.", threads)).toBeGreaterThan(before + 50);
  await expect.poll(() => distance("Line 20.")).toBeLessThan(40);
  await page.setViewportSize({ width: 900, height: 900 });
  const gap = async (): Promise<number> =>
    (await top("About Line 20.", panel)) - (await top("About Line 9.", panel));
  await expect.poll(gap).toBeLessThan(250);
});

test("a version shows what has changed since, and its restore reaches others", async () => {
  const id = await newDocument("editor");
  const document = new Y.Doc();
  await save(id, document, ["We meet on Monday.", "The end."]);
  await save(id, document, ["We meet on Friday.", "The end.", "A new line."]);
  const [owner, other] = await Promise.all([web.signIn(), web.signIn({ email: "ben@example.com" })]);
  await other.goto(`${web.server.url}/d/${id}`);
  await expect(other.getByText("We meet on Friday.")).toBeVisible();
  await owner.goto(`${web.server.url}/d/${id}`);
  await owner.getByRole("button", { name: "History" }).click();
  const panel = owner.getByRole("complementary", { name: "History" });
  await panel.getByRole("listitem").nth(1).getByRole("link").click();
  const changes = owner.getByRole("region", { name: "Changes" });
  await expect(changes.locator("del")).toHaveText(["Monday"]);
  await expect(changes.locator("ins")).toHaveText(["Friday", "A new line."]);
  await expectAccessible(owner, "aside", "[role=dialog]");
  await changes.getByRole("button", { name: "Restore" }).press("Enter");
  const question = owner.getByRole("dialog", { name: "Restore this version?" });
  await question.getByRole("button", { name: "Restore" }).press("Enter");
  await expect(owner.getByText("We meet on Monday.")).toBeVisible();
  await expect(other.getByText("We meet on Monday.")).toBeVisible();
  await expect(other.getByText("A new line.")).toBeHidden();
});
