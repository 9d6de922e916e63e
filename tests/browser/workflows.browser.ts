import { test } from "vitest";
import { expectAccessible } from "./accessibility.ts";
import { callApi } from "./web-server.ts";
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
