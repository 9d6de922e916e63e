import { beforeAll, expect, test } from "vitest";
import { expectAccessible } from "./accessibility.ts";
import { AUDIT, failAudit, panelOf } from "./run-example.ts";
import { callApi } from "./web-server.ts";
import { expectPage, webTest } from "./web-test.ts";

const web = webTest();

beforeAll(async () => {
  await web.server.storeWorkflow(AUDIT);
});

test("a run is inspected and replayed with an edited result by keyboard alone", async () => {
  const page = await web.open(`/runs/${await failAudit(web.server)}`);
  await expectPage(page.getByRole("link", { name: /^upload/ })).toBeVisible();
  for (let press = 0; press < 3; press += 1) await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  const panel = panelOf(page, "upload");
  await expectPage(panel).toContainText("exit code 3: no bucket");
  await expectPage(panel.getByRole("heading", { name: "upload" })).toBeFocused();
  await expectPage(panel.getByRole("table", { name: "Environment" })).toContainText("WEFT_STEP");
  await page.keyboard.press("Escape");
  await expectPage(page.getByRole("link", { name: /^upload/ })).toBeFocused();
  await page.keyboard.press("Enter");
  await panel.getByRole("link", { name: "Replay from this step" }).press("Enter");
  const form = panelOf(page, "Replay from upload");
  await form.getByLabel("mode").press("Control+A");
  await page.keyboard.type("fixed");
  await expectPage(form.getByLabel("fetch_output")).toHaveValue(/green/);
  await form.getByLabel("fetch_output").press("Control+A");
  await page.keyboard.type("edited");
  await form.getByRole("button", { name: "Start from upload" }).press("Enter");
  await expectPage(page.getByText("Replay of")).toBeVisible();
  await expectPage(page.getByText("Completed", { exact: true }).first()).toBeVisible();
  await expectPage(page.getByText("mode=fixed")).toBeVisible();
});

test("a failed run is found in the list and resumed by keyboard alone", async () => {
  const id = await failAudit(web.server);
  const page = await web.open("/runs?status=failed");
  await expectPage(page.locator(`[data-run="${id}"]`)).toBeVisible();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  const resume = page.getByRole("button", { name: "Resume from the failed step" });
  await expectPage(resume).toBeVisible();
  expect(new URL(page.url()).pathname).toBe(`/runs/${id}`);
  for (let press = 0; press < 20; press += 1) {
    if (await resume.evaluate((button) => button === document.activeElement)) break;
    await page.keyboard.press("Tab");
  }
  await expectPage(resume).toBeFocused();
  await page.keyboard.press("Enter");
  await expectPage(page.getByText("Continues", { exact: true })).toBeVisible();
  await expectPage(page.getByText("Taken over").first()).toBeVisible();
});

test("a failed run is resumed, and rerun with other params", async () => {
  const page = await web.open(`/runs/${await failAudit(web.server)}`);
  await page.getByRole("button", { name: "Resume from the failed step" }).click();
  await expectPage(page.getByText("Continues", { exact: true })).toBeVisible();
  await expectPage(page.getByText("Taken over").first()).toBeVisible();
  await page.getByRole("link", { name: "Rerun", exact: true }).click();
  const form = panelOf(page, "Rerun");
  await expectPage(form.getByLabel("mode")).toHaveValue("broken");
  await form.getByLabel("mode").fill("fine");
  await form.getByRole("button", { name: "Start the run" }).click();
  await expectPage(page.getByText("Rerun of")).toBeVisible();
  await expectPage(page.getByText("mode=fine")).toBeVisible();
  await expectPage(page.getByRole("link", { name: /^report/ })).toContainText("Completed");
});

test("a run in progress shows its steps and output while they happen, and is cancelled", async () => {
  await web.server.storeWorkflow(
    `name: live\nsteps:\n  - {name: one, type: bash, command: "echo begun; until test -e go-one; do sleep 0.05; done; echo ended"}\n  - {name: two, type: bash, command: "sleep 60"}\n`,
  );
  const { run_uuid: id } = await callApi<{ run_uuid: string }>(web.server, "POST", "/automation/runs", {
    module: "live",
    target: "live",
  });
  const page = await web.open(`/runs/${id}?step=one&tab=output`);
  const output = page.getByRole("log", { name: "Output" });
  await expectPage(output).toContainText("begun");
  await expectPage(output).not.toContainText("ended");
  await web.server.run({ module: "touch", target: "live" }).catch(() => undefined);
  await web.server.storeWorkflow(`name: touch\nsteps: [{name: t, type: bash, command: "touch go-one"}]\n`);
  await web.server.run({ module: "touch", target: "live" });
  await expectPage(output).toContainText("ended");
  await expectPage(page.getByRole("link", { name: /^two/ })).toContainText("Running");
  await expectPage(page.getByRole("link", { name: /^one/ })).toContainText("Completed");
  await page.getByRole("button", { name: "Cancel run" }).click();
  const question = page.getByRole("dialog", { name: "Cancel this run of live?" });
  await expectAccessible(page);
  await question.getByRole("button", { name: "Cancel run" }).click();
  await expectPage(
    page.getByRole("banner").or(page.locator("main")).getByText("Cancelled").first(),
  ).toBeVisible();
});

test("output and log are text with the colors of terminals, and are searched", async () => {
  const page = await web.open(`/runs/${await failAudit(web.server)}?step=fetch&tab=output`);
  const output = page.getByRole("log", { name: "Output" });
  await expectPage(output).toContainText("green <b>text</b>");
  await expectPage(output.locator("[data-color=green]")).toHaveText("green");
  const panel = panelOf(page, "fetch");
  await panel.getByLabel("Search in: Output").fill("TEXT");
  await expectPage(panel.getByText("1 of 1")).toBeVisible();
  await expectPage(output.locator("mark")).toHaveText(["text"]);
  await panel.getByRole("link", { name: "Log" }).click();
  await expectPage(page.getByRole("log", { name: "Log" })).toContainText("[fetch] completed");
  await expectPage(page.getByRole("log", { name: "Log" })).not.toContainText("[upload]");
});
