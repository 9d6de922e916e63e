import { fileURLToPath } from "node:url";
import type { Browser, BrowserContextOptions, Locator, Page } from "@playwright/test";
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from "vitest";
import * as Y from "yjs";
import { PNG } from "../../lib/testing/test-attachments.ts";
import { type LlmServer, startLlmServer } from "../../lib/testing/test-llm-server.ts";
import { startTestServer, type TestServer } from "../../lib/testing/test-server.ts";
import { ensureWeb } from "../../web/build/build.ts";
import { expectAccessible } from "./accessibility.ts";
import { callApi, createUser, launchChromium, logIn } from "./web-server.ts";

const WAIT = { timeout: 20_000 };
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const DOCUMENTS = "/api/v1.0/documents/";

let browser: Browser;
let model: LlmServer;
let weft: TestServer;
let ben: string;
/** Errors and violations of the policy that a browser reported during a test. */
const problems: string[] = [];

const start = (dataDir?: string, port?: number): Promise<TestServer> =>
  startTestServer({
    ...(dataDir === undefined ? {} : { dataDir }),
    env: {
      WEFT_ACCESS_TOKEN: "token-of-the-browser-tests",
      AI_FEATURE_ENABLED: "true",
      AI_FEATURE_BLOCKNOTE_ENABLED: "true",
      AI_MODEL: "m1",
      PRIMARY_SDK_API_KEY: "key-of-the-model",
      PRIMARY_SDK_BASE_URL: model.baseUrl,
      ...(port === undefined ? {} : { PORT: String(port) }),
    },
  });

beforeAll(async () => {
  await ensureWeb(ROOT);
  model = await startLlmServer();
  [browser, weft] = await Promise.all([launchChromium(), start()]);
  await createUser(weft, "ben@example.com", "Ben Ode");
  const [user] = await callApi<{ id: string }[]>(weft, "GET", "/api/v1.0/users/?q=ben@example.com");
  ben = user?.id ?? "";
}, 120_000);
afterAll(async () => {
  await browser?.close();
  await weft?.[Symbol.asyncDispose]();
  await model?.[Symbol.asyncDispose]();
});
afterEach(() => {
  expect(problems.splice(0)).toEqual([]);
});

async function open(path: string, email?: string, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext(options);
  onTestFinished(() => context.close());
  context.setDefaultTimeout(WAIT.timeout);
  context.on("weberror", (error) => problems.push(String(error.error())));
  context.on("console", (message) => {
    if (message.text().includes("Content Security Policy")) problems.push(message.text());
  });
  const page = await logIn(weft, context, email);
  await page.goto(weft.url + path);
  return page;
}

/** Creates a document that Ben may edit, too. */
async function newDocument(title: string, markdown: string): Promise<string> {
  const { id } = await callApi<{ id: string }>(weft, "POST", DOCUMENTS, { title });
  await callApi(weft, "POST", `${DOCUMENTS}${id}/accesses/`, { user_id: ben, role: "editor" });
  const content = Buffer.from(markdown).toString("base64");
  await callApi(weft, "PATCH", `${DOCUMENTS}${id}/content/`, { content });
  return id;
}

const textOf = (page: Page): Locator => page.locator("[data-editor] [contenteditable=true]").first();

/** Puts the cursor at the end of a text. Menus are ready then. */
async function cursorAfter(page: Page, text: string): Promise<void> {
  await page.locator("[data-floating], .bn-root").first().waitFor({ state: "attached" });
  await textOf(page).getByText(text).click();
  const isAtEnd = async (): Promise<boolean> => {
    await page.keyboard.press("End");
    return page.evaluate(() => {
      const selection = getSelection();
      return selection?.anchorOffset === selection?.anchorNode?.textContent?.length;
    });
  };
  await expect.poll(isAtEnd, WAIT).toBe(true);
}

/** Opens the menu of a character after the cursor. */
async function openList(page: Page, typed: string): Promise<Locator> {
  const list = page.getByRole("listbox");
  const isOpened = async (): Promise<boolean> => {
    await page.keyboard.type(typed);
    const opened = list.waitFor({ timeout: 2_000 });
    if (await opened.then(() => true).catch(() => false)) return true;
    // The menus were not loaded yet.
    for (const _ of typed) await page.keyboard.press("Backspace");
    return false;
  };
  await expect.poll(isOpened, WAIT).toBe(true);
  return list;
}

const blocksOf = async (id: string): Promise<string> =>
  JSON.stringify(await callApi(weft, "GET", `${DOCUMENTS}${id}/formatted-content/?content_format=json`));

test("by keyboard alone, a document is written, shared and commented on", async () => {
  const page = await open("/");
  await page.getByRole("heading", { name: "Documents" }).waitFor();
  await page.keyboard.press("c");
  await expect.poll(() => page.evaluate(() => document.activeElement?.ariaLabel), WAIT).toBe("Title");
  await page.keyboard.type("Trip");
  await page.keyboard.press("Enter");
  await textOf(page).waitFor();
  await page.keyboard.press("Enter");
  const list = await openList(page, "/h1");
  expect(await list.getByRole("option").allTextContents()).toEqual(["Heading 1Ctrl+Alt+1"]);
  await page.keyboard.press("Enter");
  await page.keyboard.type("Goals");
  await page.keyboard.press("Enter");
  await page.keyboard.type("We leave on Friday.");
  await page.keyboard.press("Enter");
  await openList(page, "/callout");
  await page.keyboard.press("Enter");
  await page.keyboard.type("Take care");
  expect(await textOf(page).locator(".callout").textContent()).toContain("Take care");
  await page.keyboard.press("Control+/");
  const menu = page.getByRole("menu", { name: "Menu of the block" });
  await menu.waitFor();
  await page.keyboard.press("t");
  await page.keyboard.press("ArrowRight");
  await page.getByRole("menuitemradio", { name: "Quote" }).waitFor();
  await page.keyboard.press("q");
  await page.keyboard.press("Enter");
  await textOf(page).locator("blockquote").waitFor();
  await page.keyboard.press("Shift+Home");
  await page.getByRole("toolbar", { name: "Format" }).waitFor();
  await page.keyboard.press("Alt+F10");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  await textOf(page).locator("blockquote strong").waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+Alt+m");
  const field = page.getByLabel("Add a comment");
  await expect.poll(() => field.evaluate((element) => element === document.activeElement), WAIT).toBe(true);
  await page.keyboard.type("Of what?");
  await page.keyboard.press("Control+Enter");
  await page.getByRole("list", { name: "Threads" }).getByText("Of what?").waitFor();
  await page.getByRole("button", { name: "Share" }).focus();
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Share" });
  await expect
    .poll(() => page.evaluate(() => document.activeElement?.ariaLabel), WAIT)
    .toBe("Name or email address");
  await page.keyboard.type("new@example.com");
  await page.keyboard.press("Enter");
  await dialog.getByText("Invited", { exact: true }).waitFor();
}, 120_000);

test("blocks are aligned by keys and in the toolbar, and exports show it", async () => {
  const id = await newDocument("Aligned", "One\n\nTwo\n\n| a |\n| --- |\n| 1 |");
  const page = await open(`/d/${id}`);
  const alignmentOf = (text: string): Promise<string> =>
    textOf(page)
      .getByText(text, { exact: true })
      .evaluate((element) => getComputedStyle(element).textAlign);
  await cursorAfter(page, "One");
  await page.getByRole("toolbar", { name: "Format" }).waitFor({ state: "detached" });
  await page.keyboard.press("Control+Shift+E");
  await expect.poll(() => alignmentOf("One"), WAIT).toBe("center");
  await page.keyboard.press("Shift+ArrowDown");
  await page.keyboard.press("Shift+End");
  await page.getByRole("button", { name: "Alignment" }).click();
  await expectAccessible(page);
  await page.getByRole("menuitemradio", { name: "Right" }).click();
  await expect.poll(() => Promise.all(["One", "Two"].map(alignmentOf)), WAIT).toEqual(["right", "right"]);
  await textOf(page).locator("td").last().click();
  await page.keyboard.press("Control+Shift+E");
  await expect.poll(() => alignmentOf("1"), WAIT).toBe("center");
  const exported = (): Promise<string> =>
    page.evaluate(async (path) => (await fetch(path)).text(), `${DOCUMENTS}${id}/export/?export_format=html`);
  await expect
    .poll(exported, WAIT)
    .toMatch(/text-align:right">One.*text-align:right">Two.*text-align:center/s);
});

test("axe finds nothing while any menu of the editor is open", async () => {
  const text =
    "# Goals\n\nSee [this](https://example.org).\n\n```js\nlet a = 1;\n```\n\n| a |\n| --- |\n| 1 |\n\nThe end.";
  const id = await newDocument("Menus", text);
  const page = await open(`/d/${id}?panel=outline`);
  await cursorAfter(page, "The end.");
  await page.keyboard.press("Enter");
  for (const typed of ["/", "@", ":roc"]) {
    await (await openList(page, typed)).getByRole("option").first().waitFor();
    await expectAccessible(page);
    await page.keyboard.press("Escape");
    for (const _ of typed) await page.keyboard.press("Backspace");
  }
  await page.keyboard.press("Control+/");
  await page.getByRole("menuitem", { name: "Colors" }).press("ArrowRight");
  await page.getByRole("menuitemradio", { name: "Yellow" }).first().waitFor();
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await textOf(page).getByText("this").click();
  await page.getByRole("toolbar", { name: "Link" }).waitFor();
  await expectAccessible(page);
  await textOf(page).locator("td").first().click();
  await page.getByRole("toolbar", { name: "Table" }).waitFor();
  await expectAccessible(page);
  await textOf(page).getByText("The end.").click({ clickCount: 3 });
  await page.getByRole("button", { name: "AI", exact: true }).click();
  await page.getByRole("menuitem", { name: "Rephrase" }).waitFor();
  await expectAccessible(page);
  await page.getByRole("menuitem", { name: "Rephrase" }).press("Enter");
  await page.getByRole("button", { name: "Replace the selection" }).waitFor();
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Add an emoji to the title" }).click();
  await page.getByRole("dialog", { name: "Emoji of the title" }).getByRole("option").first().waitFor();
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Present" }).click();
  await page.getByRole("dialog", { name: "Presentation: Menus" }).waitFor();
  await expectAccessible(page);
}, 180_000);

test("people and documents are linked by @, with the present title, and a comment's mention notifies", async () => {
  const other = await newDocument("Old title", "x");
  const id = await newDocument("Links", "See");
  const page = await open(`/d/${id}`);
  await cursorAfter(page, "See");
  await page.keyboard.type(" ");
  await openList(page, "@Old");
  const chosen = page.getByRole("option", { selected: true });
  await expect.poll(() => chosen.textContent(), WAIT).toBe("Old title");
  await page.keyboard.press("Enter");
  await textOf(page).getByRole("link", { name: "Old title" }).waitFor();
  await openList(page, "@Ben");
  await expect.poll(() => chosen.textContent(), WAIT).toBe("Ben Ode");
  await page.keyboard.press("Enter");
  await textOf(page).getByText("@Ben Ode").waitFor();
  await callApi(weft, "PATCH", `${DOCUMENTS}${other}/`, { title: "New title" });
  const theirs = await open(`/d/${id}?panel=comments`, "ben@example.com");
  await textOf(theirs).getByRole("link", { name: "New title" }).waitFor();
  await page.getByRole("button", { name: "Comments" }).click();
  await page.getByLabel("Add a comment").fill("Please check, @Be");
  await page.getByRole("option", { name: "Ben Ode" }).click();
  await page.keyboard.press("Control+Enter");
  await theirs.getByText("Please check, @Ben Ode").waitFor();
  const unread = async (): Promise<string> =>
    JSON.stringify(await theirs.evaluate(async () => (await fetch("/api/v1.0/notifications/")).json()));
  await expect.poll(unread, WAIT).toContain("mention");
}, 90_000);

test("an image is uploaded with its description, and hostile content is shown as text", async () => {
  const id = await newDocument("<img src=x onerror=alert(1)>", "Start");
  const page = await open(`/d/${id}`);
  await cursorAfter(page, "Start");
  await page.keyboard.press("Enter");
  await openList(page, "/image");
  await page.keyboard.press("Enter");
  const panel = page.getByRole("dialog", { name: "File" });
  const name = "<b>photo</b>.png";
  await panel.getByLabel("Choose a file").setInputFiles({ name, mimeType: "image/png", buffer: PNG });
  await textOf(page).locator("img").waitFor();
  await expect
    .poll(
      () =>
        textOf(page)
          .locator("img")
          .evaluate((image: HTMLImageElement) => image.naturalWidth),
      WAIT,
    )
    .toBeGreaterThan(0);
  expect(await textOf(page).locator("img").getAttribute("alt")).toBe(name);
  await expect.poll(() => blocksOf(id), WAIT).toContain("/media/");
  await textOf(page).getByText("Start").click();
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  await page.keyboard.type("<script>alert(1)</script> [x](javascript:alert(1)) ");
  const links = textOf(page).locator("a");
  expect(await links.evaluateAll((all) => all.map((link) => link.getAttribute("href") ?? ""))).not.toContain(
    expect.stringContaining("javascript"),
  );
  expect(await page.getByRole("textbox", { name: "Title" }).inputValue()).toBe(
    "<img src=x onerror=alert(1)>",
  );
  await textOf(page).getByText("<script>alert(1)</script>").waitFor();
}, 90_000);

test("blocks that the editor does not have are kept: the document is shown as text", async () => {
  const content = new Y.Doc();
  const [group, container, stranger] = ["blockGroup", "blockContainer", "stranger"].map(
    (name) => new Y.XmlElement(name),
  ) as [Y.XmlElement, Y.XmlElement, Y.XmlElement];
  stranger.insert(0, [new Y.XmlText("kept")]);
  container.insert(0, [stranger]);
  group.insert(0, [container]);
  content.getXmlFragment("document-store").insert(0, [group]);
  const { id } = await callApi<{ id: string }>(weft, "POST", DOCUMENTS, { title: "Strange" });
  const state = Buffer.from(Y.encodeStateAsUpdate(content)).toString("base64");
  await callApi(weft, "PATCH", `${DOCUMENTS}${id}/content/`, { content: state });
  const page = await open(`/d/${id}`);
  await page.getByText("that this editor does not have (stranger)").waitFor();
  await page.getByText("kept", { exact: true }).waitFor();
  expect(await blocksOf(id)).toContain("stranger");
}, 60_000);

test("the model's answer changes the text when it is accepted, not before", async () => {
  const id = await newDocument("AI", "Helo wrld");
  const page = await open(`/d/${id}`);
  const ask = async (action: string): Promise<void> => {
    const button = page.getByRole("button", { name: "AI", exact: true });
    // The editor may be rendered again between the click and the selection.
    const select = async (): Promise<boolean> => {
      await textOf(page).getByText("Helo wrld").click({ clickCount: 3 });
      return button.waitFor({ timeout: 2_000 }).then(
        () => true,
        () => false,
      );
    };
    await expect.poll(select, WAIT).toBe(true);
    await button.click();
    await page.getByRole("menuitem", { name: action }).click();
  };
  await ask("Correct");
  await page.getByRole("region", { name: "Answer" }).getByText("you said: Helo wrld").waitFor();
  expect(await textOf(page).textContent()).toBe("Helo wrld");
  await page.getByRole("button", { name: "Discard" }).click();
  expect(await textOf(page).textContent()).toBe("Helo wrld");
  await ask("Ask AI");
  await page.getByLabel("What should AI do with the text?").fill("Improve it");
  await page.keyboard.press("Enter");
  await page.getByRole("region", { name: "Answer" }).getByText("Improve it").waitFor();
  await page.getByRole("button", { name: "Insert below" }).click();
  await expect.poll(() => textOf(page).textContent(), WAIT).toContain("Improve it");
}, 90_000);

test("after access is revoked, the open tab shows nothing of the document", async () => {
  const id = await newDocument("Secret plan", "Nobody may know.");
  const theirs = await open(`/d/${id}`, "ben@example.com");
  await theirs.getByText("Nobody may know.").waitFor();
  const accesses = await callApi<{ id: string; user: { id: string } }[]>(
    weft,
    "GET",
    `${DOCUMENTS}${id}/accesses/`,
  );
  const own = accesses.find(({ user }) => user.id === ben);
  await callApi(weft, "DELETE", `${DOCUMENTS}${id}/accesses/${own?.id}/`);
  await theirs.getByRole("heading", { name: "No access" }).waitFor();
  await expect
    .poll(() => theirs.locator("html").innerHTML(), WAIT)
    .not.toMatch(/Nobody may know|Secret plan/);
  expect(await theirs.title()).not.toContain("Secret");
}, 60_000);

test("a server that is killed while a user types is shown as lost, and nothing that was typed is", async () => {
  const id = await newDocument("Kill", "Begin");
  const page = await open(`/d/${id}`);
  await cursorAfter(page, "Begin");
  await page.keyboard.type(" before,");
  await page.getByRole("status").getByText("Saved").waitFor();
  const { dataDir } = weft;
  const port = Number(new URL(weft.url).port);
  await weft.kill();
  await page.keyboard.type(" meanwhile,");
  await page
    .getByRole("status")
    .getByText(/Offline|Saving/)
    .waitFor();
  weft = await start(dataDir, port);
  await page.keyboard.type(" after");
  await page.getByRole("status").getByText("Saved").waitFor({ timeout: 60_000 });
  await page.reload();
  await expect.poll(() => textOf(page).textContent(), WAIT).toContain("Begin before, meanwhile, after");
}, 150_000);
