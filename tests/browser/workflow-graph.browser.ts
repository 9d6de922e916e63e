import type { Page } from "@playwright/test";
import { beforeAll, test } from "vitest";
import { expectAccessible } from "./accessibility.ts";
import { expectPage, webTest } from "./web-test.ts";

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

const web = webTest();

beforeAll(async () => {
  await web.server.storeWorkflow(yaml("old"));
  await web.server.storeWorkflow(yaml("new"));
});

const nodeOf = (page: Page, name: string) => page.locator(`.react-flow__node[data-id="${name}"]`);

test("a node leads to its line, and the cursor marks its node", async () => {
  const page = await web.open("/workflows/graphed?panel=graph", { colorScheme: "light" });
  await nodeOf(page, "second").click();
  await expectPage(page.locator(".cm-activeLine")).toContainText("name: second");
  await expectPage(nodeOf(page, "second")).toHaveClass(/current/);
  await page.keyboard.press("Control+Home");
  for (let line = 1; line < 4; line += 1) await page.keyboard.press("ArrowDown");
  await expectPage(nodeOf(page, "first")).toHaveClass(/current/);
  await expectAccessible(page);
});

test("a revision shows what has changed since, and is put back into the editor", async () => {
  const page = await web.open("/workflows/graphed?panel=revisions", { colorScheme: "dark" });
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
  const { run_uuid: id } = await web.server.run({ module: "graphed", target: "t" });
  const page = await web.open(`/runs/${id}?view=graph`, { colorScheme: "light" });
  await expectPage(nodeOf(page, "first")).toHaveClass(/state_completed/);
  await expectPage(nodeOf(page, "second")).toHaveClass(/state_failed/);
  await nodeOf(page, "second").click();
  await expectPage(page.getByRole("complementary", { name: "second" })).toBeVisible();
});
