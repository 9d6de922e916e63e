import { writeFile } from "node:fs/promises";
import { type Browser, type Page, expect as playwrightExpect } from "@playwright/test";
import { afterAll, beforeAll, onTestFinished, test } from "vitest";
import { startTestServer, type TestServer } from "../../lib/testing/test-server.ts";
import { callApi, launchChromium, logIn, startWebServer } from "./web-server.ts";

/** A loaded machine is slow. */
const expect = playwrightExpect.configure({ timeout: 60_000 });
const TIMEOUT = 180_000;

let browser: Browser;
let weft: TestServer;

beforeAll(async () => {
  [browser, weft] = await Promise.all([launchChromium(), startWebServer()]);
}, TIMEOUT);
afterAll(async () => {
  await browser?.close();
  await weft?.[Symbol.asyncDispose]();
});

async function signIn(): Promise<Page> {
  const context = await browser.newContext();
  onTestFinished(() => context.close());
  return logIn(weft, context);
}

/** Starts the killed server again, at the same address. */
async function restart(): Promise<void> {
  const { dataDir, token, url } = weft;
  weft = await startTestServer({
    dataDir,
    env: { PORT: new URL(url).port, WEFT_ACCESS_TOKEN: token },
  });
}

const editorOf = (page: Page) => page.getByRole("textbox", { name: "Text of the document" });
const saveState = (page: Page) => page.locator("[data-save]");
/** Addresses of the kept page and its files. */
const keptOf = (page: Page): Promise<string[]> =>
  page.evaluate(async () => {
    const names = await caches.keys();
    const requests = await Promise.all(names.map(async (name) => (await caches.open(name)).keys()));
    return requests.flat().map(({ url }) => new URL(url).pathname);
  });

test(
  "without a server, a reload shows the documents of this device, and what is typed is sent when it is back",
  async () => {
    const { id } = await callApi<{ id: string }>(weft, "POST", "/api/v1.0/documents/", { title: "Train" });
    const page = await signIn();
    await page.goto(`${weft.url}/d/${id}`);
    await editorOf(page).click();
    await page.keyboard.type("Before. ");
    await expect(saveState(page)).toHaveAttribute("data-save", "saved");
    await page.reload();
    await expect(editorOf(page)).toContainText("Before.");
    // The page, its script and the list of documents on this device are kept, and nothing else.
    await expect.poll(async () => (await keptOf(page)).length).toBeGreaterThan(10);
    await expect
      .poll(async () => (await keptOf(page)).join(" "))
      .toMatch(/local-documents.*documents-(?!page)/);
    const kept = await keptOf(page);
    playwrightExpect(kept.filter((path) => path !== "/" && !path.startsWith("/assets/"))).toEqual([]);

    await weft.kill();
    await page.reload();
    await expect(editorOf(page)).toContainText("Before.");
    await editorOf(page).click();
    await page.keyboard.press("Control+End");
    await page.keyboard.type("Meanwhile.");
    await expect(saveState(page)).toContainText(/not sent/);
    // Changes that are not sent ask before the page is left.
    page.once("dialog", (dialog) => void dialog.accept());
    await page.goto(`${weft.url}/`);
    await page.getByRole("list", { name: "On this device" }).getByRole("link", { name: "Train" }).click();
    await expect(editorOf(page)).toContainText("Before. Meanwhile.");

    await restart();
    await expect(saveState(page)).toHaveAttribute("data-save", "saved");
    await expect(page.getByRole("button", { name: /^Account/ })).toContainText("owner");

    await page.getByRole("button", { name: /^Account/ }).click();
    await page.getByRole("menuitem", { name: "Log out" }).click();
    await expect(page.getByRole("heading", { name: "Sign in" })).toBeVisible();
    playwrightExpect(await keptOf(page)).toEqual([]);
    playwrightExpect(
      await page.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).length),
    ).toBe(0);
  },
  TIMEOUT,
);

test(
  "the page of a run says that the server was killed, and continues with the run when it is back",
  async () => {
    await weft.storeWorkflow(
      `name: long\nsteps:\n  - {name: first, type: bash, command: "echo begun"}\n  - {name: wait, type: bash, command: "while test ! -e ${weft.dataDir}/go; do sleep 0.2; done; echo waited"}\n  - {name: last, type: bash, command: "echo ended"}\n`,
    );
    const run = await weft.startRun({ module: "long", target: "t" });
    const page = await signIn();
    await page.goto(`${weft.url}/runs/${run}`);
    const step = (name: string) => page.getByRole("link", { name: new RegExp(`^${name}`) });
    await expect(step("first")).toBeVisible();
    await expect(page.getByText("Running", { exact: true }).first()).toBeVisible();
    await weft.kill();
    await expect(page.getByText(/does not respond|offline/i).first()).toBeVisible();
    await restart();
    await expect(page.getByText(/does not respond/i)).toHaveCount(0);
    await writeFile(`${weft.dataDir}/go`, "");
    await expect(page.getByText("Completed", { exact: true }).first()).toBeVisible();
    await expect(step("last")).toContainText("Completed");
  },
  TIMEOUT,
);
