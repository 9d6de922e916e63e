import {
  type Browser,
  type BrowserContextOptions,
  type Page,
  expect as playwrightExpect,
} from "@playwright/test";
import { afterAll, beforeAll, onTestFinished, test } from "vitest";
import type { TestServer } from "../../lib/testing/test-server.ts";
import { expectAccessible } from "./accessibility.ts";
import { launchChromium, logIn, startWebServer } from "./web-server.ts";

/** A loaded machine is slow. */
const expectPage = playwrightExpect.configure({ timeout: 20_000 });

const STEPS = `name: audit
params: [{name: mode, default: broken}]
steps:
  - {name: fetch, type: bash, command: "printf '\\\\033[32mgreen\\\\033[0m <b>text</b> {{mode}}\\\\n'"}
  - {name: hosts, type: foreach, input: [a, b, c], variable: h, on_error: [{action: continue}], step: {name: probe, type: bash, command: "test [[h]] != b && echo [[h]] answers"}}
  - {name: upload, type: bash, command: "test {{mode}} != broken && test ! -e stop || { touch ok; echo no bucket >&2; exit 3; }"}
  - {name: report, type: bash, command: "echo reported"}
`;

let server: TestServer;
let browser: Browser;

beforeAll(async () => {
  [server, browser] = await Promise.all([startWebServer(), launchChromium()]);
  await server.storeWorkflow(STEPS);
}, 120_000);
afterAll(async () => {
  await browser?.close();
  await server?.[Symbol.asyncDispose]();
});

async function openPage(path: string, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext(options);
  onTestFinished(() => context.close());
  const page = await logIn(server, context);
  await page.goto(server.url + path);
  return page;
}

const failedRun = async (): Promise<string> => (await server.run({ module: "audit", target: "t" })).run_uuid;
const panelOf = (page: Page, name: string | RegExp) => page.getByRole("complementary", { name });

test("the timeline zooms by keyboard, and the items of a loop are reached with the arrows", async () => {
  const page = await openPage(`/runs/${await failedRun()}?view=timeline`);
  const rows = page.getByRole("list", { name: "Steps over time" }).getByRole("link");
  await expectPage(rows).toHaveCount(3);
  await rows.first().focus();
  const all = page.getByRole("button", { name: "Show all" });
  await expectPage(all).toBeDisabled();
  await page.keyboard.press("+");
  await expectPage(all).toBeEnabled();
  await page.keyboard.press("0");
  await expectPage(all).toBeDisabled();
  await page.getByRole("link", { name: /^hosts/ }).click();
  await panelOf(page, "hosts").getByRole("link", { name: "Items" }).click();
  const cells = page.getByRole("grid", { name: "Items" }).getByRole("gridcell");
  await expectPage(cells).toHaveCount(3);
  await expectPage(cells.nth(1)).toHaveAccessibleName("Item 2: Failed");
  await expectAccessible(page);
  await cells.first().focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  await expectPage(panelOf(page, "probe#2")).toContainText("c answers");
});

test("axe finds nothing on the views and panels of a run that are not among the pages of the example", async () => {
  const id = await failedRun();
  const page = await openPage(`/runs/${id}`);
  for (const query of ["?step=fetch&tab=output", "?view=artifacts", "?panel=rerun"]) {
    await page.goto(`${server.url}/runs/${id}${query}`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.waitForLoadState("networkidle");
    await expectAccessible(page);
  }
});
