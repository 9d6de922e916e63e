import { writeFile } from "node:fs/promises";
import { type Page, expect as playwrightExpect } from "@playwright/test";
import { test } from "vitest";
import { callApi } from "./web-server.ts";
import { webTest } from "./web-test.ts";

/** A loaded machine is slow. */
const expect = playwrightExpect.configure({ timeout: 60_000 });
const TIMEOUT = 180_000;

const web = webTest();

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
    const { id } = await callApi<{ id: string }>(web.server, "POST", "/api/v1.0/documents/", {
      title: "Train",
    });
    const page = await web.open(`/d/${id}`);
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

    await web.server.kill();
    await page.reload();
    await expect(editorOf(page)).toContainText("Before.");
    await editorOf(page).click();
    await page.keyboard.press("Control+End");
    await page.keyboard.type("Meanwhile.");
    await expect(saveState(page)).toContainText(/not sent/);
    // Changes that are not sent ask before the page is left.
    page.once("dialog", (dialog) => void dialog.accept());
    await page.goto(`${web.server.url}/`);
    await page.getByRole("list", { name: "On this device" }).getByRole("link", { name: "Train" }).click();
    await expect(editorOf(page)).toContainText("Before. Meanwhile.");

    await web.restart();
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
    await web.server.storeWorkflow(
      `name: long\nsteps:\n  - {name: first, type: bash, command: "echo begun"}\n  - {name: wait, type: bash, command: "while test ! -e ${web.server.dataDir}/go; do sleep 0.2; done; echo waited"}\n  - {name: last, type: bash, command: "echo ended"}\n`,
    );
    const run = await web.server.startRun({ module: "long", target: "t" });
    const page = await web.open(`/runs/${run}`);
    const step = (name: string) => page.getByRole("link", { name: new RegExp(`^${name}`) });
    await expect(step("first")).toBeVisible();
    await expect(page.getByText("Running", { exact: true }).first()).toBeVisible();
    await web.server.kill();
    await expect(page.getByText(/does not respond|offline/i).first()).toBeVisible();
    await web.restart();
    await expect(page.getByText(/does not respond/i)).toHaveCount(0);
    await writeFile(`${web.server.dataDir}/go`, "");
    await expect(page.getByText("Completed", { exact: true }).first()).toBeVisible();
    await expect(step("last")).toContainText("Completed");
  },
  TIMEOUT,
);
