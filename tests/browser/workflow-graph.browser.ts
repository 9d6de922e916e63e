import { type Browser, type Page, expect as playwrightExpect } from "@playwright/test";
import { afterAll, beforeAll, onTestFinished, test } from "vitest";
import type { TestServer } from "../../lib/testing/test-server.ts";
import { expectAccessible } from "./accessibility.ts";
import { launchChromium, logIn, startWebServer } from "./web-server.ts";

/** A loaded machine is slow. */
const expectPage = playwrightExpect.configure({ timeout: 20_000 });

const yaml = (word: string): string => `name: graphed
steps:
  - name: first
    type: bash
    command: echo ${word}
  - name: second
    type: bash
    command: "false"
    depends_on: [first]
`;

let server: TestServer;
let browser: Browser;

beforeAll(async () => {
  [server, browser] = await Promise.all([startWebServer(), launchChromium()]);
  await server.storeWorkflow(yaml("old"));
  await server.storeWorkflow(yaml("new"));
}, 120_000);
afterAll(async () => {
  await browser?.close();
  await server?.[Symbol.asyncDispose]();
});

async function openPage(path: string, colorScheme: "light" | "dark"): Promise<Page> {
  const context = await browser.newContext({ colorScheme });
  onTestFinished(() => context.close());
  const page = await logIn(server, context);
  await page.goto(server.url + path);
  return page;
}

const nodeOf = (page: Page, name: string) => page.locator(`.react-flow__node[data-id="${name}"]`);

test("a node leads to its line, and the cursor marks its node", async () => {
  const page = await openPage("/workflows/graphed?panel=graph", "light");
  await nodeOf(page, "second").click();
  await expectPage(page.locator(".cm-activeLine")).toContainText("name: second");
  await expectPage(nodeOf(page, "second")).toHaveClass(/current/);
  await page.keyboard.press("Control+Home");
  for (let line = 1; line < 4; line += 1) await page.keyboard.press("ArrowDown");
  await expectPage(nodeOf(page, "first")).toHaveClass(/current/);
  await expectAccessible(page);
});

test("a revision shows what has changed since, and is put back into the editor", async () => {
  const page = await openPage("/workflows/graphed?panel=revisions", "dark");
  await page.getByRole("link", { name: /^Revision 1/ }).click();
  const changes = page.getByRole("region", { name: "Changes since revision 1" });
  await expectPage(changes.locator("del")).toContainText("echo old");
  await expectPage(changes.locator("ins")).toContainText("echo new");
  await expectAccessible(page);
  await changes.getByRole("button", { name: "Put into the editor" }).click();
  await expectPage(page.getByRole("textbox", { name: "Source of the workflow" })).toContainText("echo old");
  await expectPage(page.getByText("Not saved")).toBeVisible();
});

test("the graph of a run shows the states of its steps", async () => {
  const { run_uuid: id } = await server.run({ module: "graphed", target: "t" });
  const page = await openPage(`/runs/${id}?view=graph`, "light");
  await expectPage(nodeOf(page, "first")).toHaveClass(/state_completed/);
  await expectPage(nodeOf(page, "second")).toHaveClass(/state_failed/);
  await nodeOf(page, "second").click();
  await expectPage(page.getByRole("complementary", { name: "second" })).toBeVisible();
});
