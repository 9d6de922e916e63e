import type { Browser, BrowserContext, Page } from "@playwright/test";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { TestServer } from "../../lib/testing/test-server.ts";
import { callApi, launchChromium, logIn, startWebServer } from "./web-server.ts";

let server: TestServer;
let browser: Browser;
let context: BrowserContext;

beforeAll(async () => {
  server = await startWebServer();
  browser = await launchChromium();
  // A service worker would load files past the routes of the tests.
  context = await browser.newContext({ serviceWorkers: "block" });
  await (await logIn(server, context)).close();
});
afterAll(async () => {
  await browser.close();
  await server.stop();
});

/** Opens an address, and returns the page and how often each path was requested until `isThere`. */
async function open(
  path: string,
  isThere: (page: Page) => Promise<unknown>,
): Promise<{ readonly page: Page; readonly requests: ReadonlyMap<string, number> }> {
  const page = await context.newPage();
  const requests = new Map<string, number>();
  page.on("request", (request) => {
    const name = request.url().slice(server.url.length);
    requests.set(name, (requests.get(name) ?? 0) + 1);
  });
  // New events have lists read again.
  await page.route("**/automation/event-logs/stream*", (route) => route.abort());
  await page.goto(server.url + path);
  await isThere(page);
  return { page, requests };
}

const createDocument = async (title: string): Promise<string> =>
  (await callApi<{ id: string }>(server, "POST", "/api/v1.0/documents/", { title })).id;

it("the first page of the documents is requested once, before the shell has arrived", async () => {
  const id = await createDocument("Loaded");
  const { page, requests } = await open("/", (opened) =>
    opened.getByRole("main").getByRole("link", { name: "Loaded" }).first().waitFor(),
  );
  expect(requests.get("/api/v1.0/users/me")).toBe(1);
  expect(requests.get("/api/v1.0/documents?page=1&page_size=50")).toBe(1);
  expect(await page.getByRole("main").locator(`a[href^="/d/${id}"]`).count()).toBe(1);
  await page.close();
});

it("a document and the ticket of its connection are requested once", async () => {
  const id = await createDocument("Loaded at once");
  const { page, requests } = await open(`/d/${id}`, (opened) =>
    opened.locator('main [contenteditable="true"]').last().waitFor(),
  );
  expect(requests.get(`/api/v1.0/documents/${id}`)).toBe(1);
  expect(requests.get(`/api/v1.0/documents/${id}/collaboration-ticket/`)).toBe(1);
  await page.close();
});

it("a run and its steps, a workflow, and the runs are requested once", async () => {
  await server.storeWorkflow("name: loaded\nsteps:\n  - {name: only, type: bash, command: 'true'}\n");
  const { run_id } = await server.run({ module: "loaded" });
  const run = await open(`/runs/${run_id}?view=timeline`, (opened) =>
    opened.getByRole("main").getByRole("link", { name: /only/ }).waitFor(),
  );
  expect(run.requests.get(`/automation/runs/${run_id}`)).toBe(1);
  expect(run.requests.get(`/automation/runs/${run_id}/timeline?offset=0&limit=10000`)).toBe(1);
  await run.page.close();
  const workflow = await open("/workflows/loaded", (opened) => opened.locator(".cm-content").waitFor());
  expect(workflow.requests.get("/automation/workflows/loaded")).toBe(1);
  expect(workflow.requests.get("/automation/schemas/workflow.json")).toBe(1);
  await workflow.page.close();
  const runs = await open("/runs", (opened) =>
    opened
      .getByRole("main")
      .getByRole("link", { name: /loaded/ })
      .first()
      .waitFor(),
  );
  expect(runs.requests.get("/automation/runs?offset=0&limit=50")).toBe(1);
  await runs.page.close();
});

it("a page shows its menu only when it is opened, and the focus returns to its button", async () => {
  const id = await createDocument("With a menu");
  const { page, requests } = await open(`/d/${id}`, (opened) =>
    opened.locator('main [contenteditable="true"]').last().waitFor(),
  );
  expect([...requests.keys()].filter((path) => path.includes("document-menu"))).toEqual([]);
  const button = page.getByRole("main").getByRole("button", { name: "Actions for this document" });
  await button.click();
  await page.getByRole("menuitem", { name: "Copy link" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("menuitem", { name: "Copy link" }).waitFor({ state: "hidden" });
  await expect.poll(() => button.evaluate((element) => element === document.activeElement)).toBe(true);
  await page.close();
});

it.each([
  ["/runs", "runs-page", "Runs"],
  ["/", "documents-page", "Documents"],
])(
  "%s, whose code cannot be loaded, says so, keeps the navigation, and is loaded when it is tried again",
  async (path, file, title) => {
    const page = await context.newPage();
    await page.route(`**/assets/${file}-*`, (route) => route.abort());
    await page.goto(`${server.url}${path}`);
    await page.getByRole("button", { name: "Reload" }).waitFor();
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Workflows" }).waitFor();
    await page.unroute(`**/assets/${file}-*`);
    await page.getByRole("button", { name: "Reload" }).click();
    await page.getByRole("heading", { level: 1, name: title }).waitFor();
    await page.close();
  },
);

it("a part whose code cannot be loaded leaves the page as it is, and is loaded with its style when it is tried again", async () => {
  await server.storeWorkflow("name: parts\nsteps:\n  - {name: only, type: bash, command: 'true'}\n");
  const { page } = await open("/workflows/parts", (opened) => opened.locator(".cm-content").waitFor());
  const source = page.getByRole("textbox", { name: "Source of the workflow" });
  await source.fill("name: parts\nsteps:\n  - {name: typed, type: bash, command: 'true'}\n");
  await page.route("**/assets/step-graph-*", (route) => route.abort());
  await page.getByRole("link", { name: "Graph" }).click();
  const notice = page.getByRole("status").filter({ hasText: "This could not be loaded" });
  await notice.waitFor();
  expect(await source.textContent()).toContain("name: typed");
  await page.unroute("**/assets/step-graph-*");
  await notice.getByRole("button", { name: "Try again" }).click();
  await page.locator('.react-flow__node[data-id="typed"]').waitFor();
  await notice.waitFor({ state: "hidden" });
  expect(await source.textContent()).toContain("name: typed");
  const styles = await page.evaluate(() => [...document.styleSheets].map(({ href }) => href ?? ""));
  expect(styles.filter((href) => href.includes("/step-graph-"))).toHaveLength(1);
  await page.close();
});

it("a notice says that there is a new version if the server no longer has a file, and a reload loads it", async () => {
  const id = await createDocument("With a new version");
  const { page } = await open(`/d/${id}`, (opened) =>
    opened.locator('main [contenteditable="true"]').last().waitFor(),
  );
  await page.locator('main [contenteditable="true"]').last().click();
  await page.keyboard.type("Kept on the screen.");
  const newPage = '<!doctype html><script type="module" src="/assets/index-of-another.js"></script>';
  await page.route("**/assets/share-dialog-*", (route) => route.fulfill({ status: 404 }));
  await page.route(`${server.url}/`, (route) => route.fulfill({ contentType: "text/html", body: newPage }));
  const share = page.getByRole("button", { name: "Share", exact: true });
  await share.click();
  await page.getByText("This could not be loaded: There is a new version of this page.").waitFor();
  await page.getByText("Kept on the screen.").waitFor();
  await page.unrouteAll();
  await page.getByRole("button", { name: "Reload" }).click();
  await page.getByText("Kept on the screen.").waitFor();
  await share.click();
  await page.getByRole("dialog", { name: "Share" }).waitFor();
  await page.close();
});

it("a part that is opened without a connection appears when the connection is back", async () => {
  const id = await createDocument("Without a connection");
  const { page } = await open(`/d/${id}`, (opened) =>
    opened.locator('main [contenteditable="true"]').last().waitFor(),
  );
  await page.route("**/assets/share-dialog-*", (route) => route.abort());
  await context.setOffline(true);
  await page.getByRole("button", { name: "Share", exact: true }).click();
  await page.getByText("This could not be loaded: The server does not respond.").waitFor();
  await page.unrouteAll();
  await context.setOffline(false);
  await page.getByRole("dialog", { name: "Share" }).waitFor();
  await page.close();
});
