import { beforeAll, test } from "vitest";
import { expectAccessible } from "./accessibility.ts";
import { AUDIT, failAudit, panelOf } from "./run-example.ts";
import { expectPage, webTest } from "./web-test.ts";

const web = webTest();

beforeAll(async () => {
  await web.server.storeWorkflow(AUDIT);
});

test("the timeline zooms by keyboard, and the items of a loop are reached with the arrows", async () => {
  const page = await web.open(`/runs/${await failAudit(web.server)}?view=timeline`);
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
  const id = await failAudit(web.server);
  const page = await web.open(`/runs/${id}`);
  for (const query of ["?step=fetch&tab=output", "?view=artifacts", "?panel=rerun"]) {
    await page.goto(`${web.server.url}/runs/${id}${query}`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.waitForLoadState("networkidle");
    await expectAccessible(page);
  }
});
