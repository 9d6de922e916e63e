import type { Page } from "@playwright/test";
import { beforeAll, expect, test } from "vitest";
import { expectAccessible } from "./accessibility.ts";
import { callApi } from "./web-server.ts";
import { expectPage, webTest } from "./web-test.ts";

const web = webTest();

beforeAll(async () => {
  await web.server.storeWorkflow(
    `name: deploy\nparams: [{name: zone, default: eu}]\nsteps: [{name: s, type: bash, command: "test {{zone}} != us || { echo no quota >&2; exit 1; }"}]\n`,
  );
  for (const zone of ["eu", "us", "asia"])
    await web.server.run({ module: "deploy", target: `site-${zone}`, params: { zone } });
});

const rows = (page: Page) => page.getByRole("table", { name: "Runs" }).locator("tbody tr");

test("runs are filtered by a param and by their error, which is in the address", async () => {
  const page = await web.open("/runs");
  await expectPage(rows(page)).toHaveCount(3);
  await page.getByLabel("Property to filter by").selectOption("param.zone");
  await page.getByLabel("Filter by zone").fill("asia");
  await page.keyboard.press("Enter");
  await expectPage(rows(page)).toHaveCount(1);
  await expectPage(rows(page)).toContainText("site-asia");
  expect(page.url()).toContain("param.zone=asia");
  await page.getByRole("link", { name: "Remove the filter zone" }).click();
  await page.getByLabel("Property to filter by").selectOption("error");
  await page.getByLabel("Filter by Error contains").fill("NO QUOTA");
  await page.keyboard.press("Enter");
  await expectPage(rows(page)).toHaveCount(1);
  await expectPage(rows(page)).toContainText("site-us");
  await page.reload();
  await expectPage(rows(page)).toHaveCount(1);
});

test("the header of a column sorts the list on the server, which is in the address", async () => {
  const page = await web.open("/runs?workflow=deploy");
  await expectPage(rows(page).first()).toContainText("site-asia");
  const header = page.getByRole("columnheader", { name: "Started", exact: true });
  await expectPage(header).toHaveAttribute("aria-sort", "descending");
  await header.getByRole("button").press("Enter");
  await expectPage(rows(page).first()).toContainText("site-eu");
  await expectPage(header).toHaveAttribute("aria-sort", "ascending");
  await expectPage(header.getByRole("button")).toBeFocused();
  expect(page.url()).toContain("ordering=created_at");
  await expectAccessible(page);
  await page.reload();
  await expectPage(rows(page).first()).toContainText("site-eu");
  await page.goBack();
  await expectPage(rows(page).first()).toContainText("site-asia");
});

test("workflows are sorted by their columns, also where the table is narrow", async () => {
  for (const name of ["alpha", "zeta"])
    await web.server.storeWorkflow(`name: ${name}\nsteps: [{name: s, type: bash, command: "true"}]\n`);
  const page = await web.open("/workflows");
  await page.setViewportSize({ width: 390, height: 800 });
  const links = page.getByRole("table", { name: "Workflows" }).locator("tbody th a");
  await expectPage(links.first()).toHaveText("alpha");
  const sort = page.getByRole("button", { name: "Name", exact: true });
  await sort.click();
  await expectPage(links.first()).toHaveText("zeta");
  expect(new URL(page.url()).search).toBe("?ordering=-name");
  await expectAccessible(page);
  await sort.click();
  await expectPage(links.first()).toHaveText("alpha");
  expect(new URL(page.url()).search).toBe("");
});

test("a run that starts waits behind a button, so that no row moves", async () => {
  const page = await web.open("/runs?workflow=deploy");
  await expectPage(rows(page).first()).toBeVisible();
  const count = await rows(page).count();
  await web.server.run({ module: "deploy", target: "site-new" });
  await expectPage(page.getByRole("button", { name: "1 new run" })).toBeVisible();
  await expectPage(rows(page)).toHaveCount(count);
  await page.getByRole("button", { name: "1 new run" }).click();
  await expectPage(rows(page).first()).toContainText("site-new");
});

test("runs are selected with x, cancelled and rerun together", async () => {
  await web.server.storeWorkflow(`name: long\nsteps: [{name: s, type: bash, command: "sleep 100"}]\n`);
  for (const target of ["l1", "l2"])
    await callApi(web.server, "POST", "/automation/runs", { module: "long", target });
  const page = await web.open("/runs?workflow=long");
  await expectPage(rows(page)).toHaveCount(2);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("x");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("x");
  const bar = page.getByRole("region", { name: "Selected runs" });
  await expectPage(bar).toContainText("2 runs selected");
  await expectAccessible(page);
  await bar.getByRole("button", { name: "Cancel runs" }).click();
  await page
    .getByRole("dialog", { name: "Cancel 2 runs?" })
    .getByRole("button", { name: "Cancel runs" })
    .click();
  await expectPage(page.getByText("2 of 2 runs were cancelled.")).toBeVisible();
  await expectPage(rows(page).filter({ hasText: "Cancelled" })).toHaveCount(2);
});

test("the chain of a run leads to what started it and what it started", async () => {
  const { run_uuid: id } = await web.server.run({ module: "deploy", target: "chained" });
  const { run_uuid: again } = await callApi<{ run_uuid: string }>(
    web.server,
    "POST",
    `/automation/runs/${id}/rerun`,
    {},
  );
  const page = await web.open(`/runs/${again}?view=chain`);
  const causes = page.getByRole("main").getByRole("listitem").filter({ hasText: "deploy" });
  await expectPage(causes).toHaveCount(2);
  await expectAccessible(page);
  await causes.first().getByRole("link", { name: "deploy" }).click();
  await expectPage(page).toHaveURL(new RegExp(id));
});

test("axe finds nothing on the list of runs", async () => {
  const page = await web.open("/runs?status=failed");
  await expectPage(rows(page).first()).toBeVisible();
  await expectAccessible(page);
});
