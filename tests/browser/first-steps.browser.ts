import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, type BrowserContext, type Page, expect as playwrightExpect } from "@playwright/test";
import { afterAll, beforeAll, test } from "vitest";
import { ensureBuilt, launchChromium } from "./web-server.ts";

/* A new user's way from `npm start` to a shared document and to a resumed run, by what is on the screen alone. */

/** A loaded machine is slow. */
const expect = playwrightExpect.configure({ timeout: 30_000 });
const ROOT = join(import.meta.dirname, "..", "..");

/** A workflow whose second step fails at its first attempt. */
const WORKFLOW = `name: backup
steps:
  - name: dump
    type: bash
    command: echo "dumped 3 tables"
  - name: upload
    type: bash
    command: test {{attempt}} -gt 1 || { echo "the storage does not respond" >&2; exit 1; }
`;

let browser: Browser;
let context: BrowserContext;
let dataDir: string;
let npm: ChildProcess;
let page: Page;

beforeAll(async () => {
  await ensureBuilt();
  [browser, dataDir] = await Promise.all([launchChromium(), mkdtemp(join(tmpdir(), "weft-first-steps-"))]);
  context = await browser.newContext();
  context.setDefaultTimeout(30_000);
  page = await context.newPage();
});
afterAll(async () => {
  await browser?.close();
  if (npm?.exitCode === null) {
    const ended = new Promise((resolve) => npm.once("close", resolve));
    // Its group: npm and the server.
    process.kill(-(npm.pid ?? 0), "SIGKILL");
    await ended;
  }
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
});

/** The address that `npm start` prints for the browser. */
function startServer(): Promise<string> {
  const env = { ...process.env, PORT: "0", WEFT_DATA_DIR: dataDir, WEFT_ACCESS_TOKEN: "" };
  npm = spawn("npm", ["start"], { cwd: ROOT, env, detached: true, stdio: ["ignore", "pipe", "ignore"] });
  return new Promise((resolve, reject) => {
    let shown = "";
    npm.stdout?.on("data", (chunk: Buffer) => {
      shown += chunk.toString();
      const link = /sign in once at (\S+)\n/.exec(shown)?.[1];
      if (link !== undefined) resolve(link);
    });
    npm.once("close", () => reject(new Error(`it did not start: ${shown}`)));
  });
}

const main = () => page.getByRole("main");
const goTo = (name: string): Promise<void> =>
  page.getByRole("navigation", { name: "Main" }).getByRole("link", { name, exact: true }).click();

test("the printed link leads to an empty list, which says what to do first", async () => {
  await page.goto(await startServer());
  await expect(page.getByRole("heading", { level: 1, name: "Documents" })).toBeVisible();
  await expect(main().getByText("There are no documents yet.")).toBeVisible();
  await main().getByRole("button", { name: "New document" }).last().click();
  await page.getByRole("textbox", { name: "Title" }).fill("Plan");
  await page.keyboard.press("Enter");
  await page.keyboard.type("We meet on Monday.");
  await expect(main().getByRole("status").getByText("Saved", { exact: true })).toBeVisible();
});

test("the document is shared with a person, and with everyone who has its link", async () => {
  await page.getByRole("button", { name: "Share", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Share" });
  await dialog
    .getByRole("combobox", { name: "Name or email address" })
    .or(dialog.getByLabel("Name or email address"))
    .first()
    .fill("ben@example.org");
  await dialog.getByRole("button", { name: "Add", exact: true }).click();
  await expect(dialog.getByText("Invited people have access as soon as they sign in")).toBeVisible();
  await expect(dialog.getByText("The link opens the document only for the people above.")).toBeVisible();
  await dialog.getByLabel("Who can open the link").selectOption("Everyone with the link");
  await expect(dialog.getByLabel("What the link allows")).toBeVisible();
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await dialog.getByRole("button", { name: "Copy the link" }).click();
  const copied = (): Promise<string> => page.evaluate(() => navigator.clipboard.readText());
  await expect.poll(copied).toContain("/d/");
  const link = await copied();
  const visitor = await browser.newContext();
  const theirs = await visitor.newPage();
  await theirs.goto(link);
  await expect(theirs.getByRole("heading", { level: 1, name: "Plan" })).toBeVisible();
  await expect(theirs.getByText("We meet on Monday.")).toBeVisible();
  await visitor.close();
  await page.keyboard.press("Escape");
  await expect(dialog).toBeHidden();
});

test("the first workflow is the example of the editor, and its run is shown", async () => {
  await goTo("Runs");
  await expect(main().getByText("There are no runs yet.")).toBeVisible();
  await main().getByRole("link", { name: "Workflows" }).click();
  await expect(main().getByText("There are no workflows yet.")).toBeVisible();
  await main().getByRole("link", { name: "New workflow" }).last().click();
  await expect(main().getByText("This example can be changed, saved and run.")).toBeVisible();
  await expect(main().getByText("No problems")).toBeVisible();
  await main().getByRole("button", { name: "Save", exact: true }).click();
  await main().getByRole("link", { name: "Run hello" }).click();
  await main().getByRole("button", { name: "Start the run" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "hello" })).toBeVisible();
  await expect(main().getByText("Completed", { exact: true }).first()).toBeVisible();
});

test("a run fails, says why and how it continues, and is resumed", async () => {
  await goTo("Workflows");
  await main().getByRole("link", { name: "New workflow" }).first().click();
  await main().getByRole("textbox", { name: "Source of the workflow" }).fill(WORKFLOW);
  await expect(main().getByText("No problems")).toBeVisible();
  await main().getByRole("button", { name: "Save", exact: true }).click();
  await main().getByRole("link", { name: "Run backup" }).click();
  await main().getByRole("button", { name: "Start the run" }).click();
  await expect(main().getByText("Failed", { exact: true }).first()).toBeVisible();
  await expect(main().getByText("the storage does not respond").first()).toBeVisible();
  await expect(main().getByText("Resume continues at the failed step")).toBeVisible();
  await main().getByRole("button", { name: "Resume from the failed step" }).click();
  await expect(main().getByText("Continues", { exact: true })).toBeVisible();
  await expect(main().getByText("Completed", { exact: true }).first()).toBeVisible();
  await expect(main().getByRole("link", { name: /^dump/ })).toContainText("Taken over");
});
