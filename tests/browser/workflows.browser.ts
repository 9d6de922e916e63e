import type { Page } from "@playwright/test";
import { test } from "vitest";
import { expectAccessible } from "./accessibility.ts";
import { callApi, logIn } from "./web-server.ts";
import { expectPage, webTest } from "./web-test.ts";

const web = webTest();

const YAML = `name: greet
params:
  - name: greeting
    required: true
triggers:
  - name: every-morning
    type: cron
    schedule: "0 9 * * *"
steps:
  - name: second
    type: function
    depends_on: [first]
    function: first_output
  - name: first
    type: bash
    command: echo {{greeting}}
`;

test("a workflow is written, validated, saved, planned and run", async () => {
  const page = await web.signIn();
  await page.getByRole("link", { name: "Workflows" }).click();
  await page.getByRole("link", { name: "New workflow" }).first().click();
  const source = page.getByRole("textbox", { name: "Source of the workflow" });
  await source.fill("name: greet\nsteps:\n  - name: a\n    type: nonsense");
  await expectPage(page.getByRole("region", { name: "Problems" })).toContainText("Line 4");
  await source.fill(YAML);
  await expectPage(page.getByText("No problems")).toBeVisible();
  const steps = page.getByRole("list", { name: "Steps in the order of a run" }).getByRole("button");
  await expectPage(steps).toHaveText([/^first/, /^second/]);
  await page.getByRole("button", { name: "Save" }).click();
  await expectPage(page.getByRole("heading", { name: "greet" })).toBeVisible();
  await expectPage(page.getByText("Revision 1", { exact: true })).toBeVisible();
  await steps.first().click();
  await expectPage(steps.first()).toHaveAttribute("aria-current", "step");
  await expectAccessible(page, "main");

  await page.getByRole("link", { name: "Run", exact: true }).click();
  await page.getByLabel("greeting").fill("Servus");
  await expectAccessible(page, "main");
  await page.getByRole("button", { name: "Dry run" }).click();
  await expectPage(page.getByText("echo Servus")).toBeVisible();
  await page.getByRole("link", { name: "Run", exact: true }).click();
  await page.getByLabel("greeting").fill("Servus");
  await page.getByRole("button", { name: "Start the run" }).click();
  await page.waitForURL(/\/runs\//);
  await expectPage(page.getByText("greeting=Servus")).toBeVisible();

  await page.getByRole("link", { name: "Workflows" }).click();
  await expectPage(page.getByRole("img", { name: "Last run" })).toBeVisible();
  await expectAccessible(page, "main");
});

test("a text that others have changed meanwhile is not overwritten unasked", async () => {
  const save = (text: string) => callApi(web.server, "POST", "/automation/workflows", { yaml: text });
  const text = (name: string) => `name: shared\nsteps: [{name: ${name}, type: bash, command: echo}]\n`;
  await save(text("one"));
  const page = await web.open("/workflows/shared");
  const source = page.getByRole("textbox", { name: "Source of the workflow" });
  await source.fill(text("mine"));
  await expectPage(page.getByText("Not saved")).toBeVisible();
  await save(text("theirs"));
  await page.getByRole("button", { name: "Save" }).click();
  await expectPage(page.getByRole("alert")).toContainText("Another revision of shared was saved");
  await page.getByRole("button", { name: "Load the newest revision" }).click();
  await expectPage(source).toContainText("theirs");
  await expectPage(page.getByText("Saved", { exact: true })).toBeVisible();
});

test("a text that was not saved is there after a reload, a closed tab and an ended session, and not after a logout", async () => {
  const text = (name: string) => `name: kept\nsteps: [{name: ${name}, type: bash, command: echo}]\n`;
  await callApi(web.server, "POST", "/automation/workflows", { yaml: text("stored") });
  const first = await web.open("/workflows/kept");
  const context = first.context();
  const sourceOf = (page: Page) => page.getByRole("textbox", { name: "Source of the workflow" });
  const noticeOf = (page: Page) => page.getByText("Changes that were not saved are in the editor.");
  await sourceOf(first).fill(text("typed"));
  await expectPage(first.getByText("Not saved")).toBeVisible();
  await first.reload();
  await expectPage(sourceOf(first)).toContainText("typed");
  await expectPage(noticeOf(first)).toBeVisible();
  await expectAccessible(first, "main");
  await first.close();

  await context.clearCookies();
  const page = await logIn(web.server, context);
  await page.goto(`${web.server.url}/workflows/kept`);
  await expectPage(sourceOf(page)).toContainText("typed");
  await page.getByRole("button", { name: "Discard the changes" }).click();
  await expectPage(sourceOf(page)).toContainText("stored");
  await expectPage(page.getByText("Saved", { exact: true })).toBeVisible();
  await page.reload();
  await expectPage(sourceOf(page)).toContainText("stored");
  await expectPage(noticeOf(page)).toHaveCount(0);

  await page.goto(`${web.server.url}/new-workflow`);
  await sourceOf(page).fill("name: never-saved\n");
  await expectPage(sourceOf(page)).toContainText("never-saved");
  await page.goto(`${web.server.url}/workflows`);
  await page.getByRole("button", { name: /^Account/ }).click();
  await page.getByRole("menuitem", { name: "Log out" }).click();
  const dialog = page.getByRole("dialog", { name: "Log out?" });
  await expectPage(dialog).toContainText("1 workflow on this device has changes that were not saved");
  await dialog.getByRole("button", { name: "Log out" }).click();
  await expectPage(page.getByRole("heading", { name: "Sign in" })).toBeVisible();
  const again = await logIn(web.server, context);
  await again.goto(`${web.server.url}/new-workflow`);
  await expectPage(sourceOf(again)).toContainText("name: hello");
  await expectPage(noticeOf(again)).toHaveCount(0);
});

test("a schedule is paused, resumed and run now", async () => {
  await callApi(web.server, "POST", "/automation/workflows", {
    yaml: YAML.replace("greet", "scheduled").replace("required: true", "default: Hello"),
  });
  const page = await web.open("/schedules");
  const row = page.getByRole("row", { name: "scheduled" });
  await row.getByRole("button", { name: "Pause" }).click();
  await expectPage(row).toContainText("Paused");
  await row.getByRole("button", { name: "Resume" }).click();
  await expectPage(row).not.toContainText("Paused");
  await expectAccessible(page, "main");
  await row.getByRole("button", { name: /^Run/ }).click();
  await page.getByRole("button", { name: "Open the run" }).click();
  await expectPage(page.getByRole("heading", { name: "scheduled" })).toBeVisible();
});
