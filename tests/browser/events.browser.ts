import { beforeAll, expect, test } from "vitest";
import { expectAccessible } from "./accessibility.ts";
import { createEventExample } from "./event-example.ts";
import { callApi } from "./web-server.ts";
import { expectPage, webTest } from "./web-test.ts";

const web = webTest();
let pages: Record<string, string>;

beforeAll(async () => {
  pages = await createEventExample(web.server);
});

const emit = async (topic: string, data: object = {}): Promise<string> => {
  const body = { topic, data };
  const { event_id } = await callApi<{ event_id: string }>(
    web.server,
    "POST",
    "/automation/events/emit",
    body,
  );
  return event_id.replace("evt_", "");
};

test("events are filtered, the address has the filters, and rows are reached by keyboard", async () => {
  const page = await web.open("/events");
  await page.getByRole("row", { name: /custom\.backup/ }).waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("custom.deploy");
  await page.keyboard.press("Enter");
  await page.waitForURL(/topic=custom\.deploy/);
  await expectPage(page.getByText("1–2 of 2")).toBeVisible();
  await page.getByRole("button", { name: "Copy as a command" }).click();
  await expectPage(page.getByRole("menuitem", { name: "Copy as weft command" })).toBeVisible();
  await expectAccessible(page, "main");
  await page.keyboard.press("Escape");
  await expectAccessible(page, "main");
  await page.getByRole("main").focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/events\/[\da-f-]+$/);
  await page.goBack();
  await page.getByRole("link", { name: "Remove the filter Topic" }).click();
  await expectPage(page.getByRole("row", { name: /custom\.backup/ })).toBeVisible();
});

/** A script that resolves to the time when a text appears in the table. */
const timeWhenShown = (text: string): string => `new Promise((resolve) => {
  new MutationObserver((_changes, observer) => {
    if (!document.querySelector("tbody")?.textContent.includes(${JSON.stringify(text)})) return;
    observer.disconnect();
    resolve(Date.now());
  }).observe(document.body, { childList: true, subtree: true });
})`;

test("a new event appears within 100 ms, and waits while the list is scrolled or paused", async () => {
  for (let index = 0; index < 60; index += 1) await emit("custom.filler", { index });
  const page = await web.open("/events?source=api");
  await expectPage(page.getByText("Live")).toBeVisible();
  const row = (name: string) => page.getByRole("row", { name: new RegExp(name) });
  let count = 0;
  const delay = async (): Promise<number> => {
    count += 1;
    const name = `custom.new_${count}_of_many`;
    const shown = page.evaluate<number>(timeWhenShown(name));
    const sentAt = Date.now();
    await emit(name);
    return (await shown) - sentAt;
  };
  // Until one of them is not delayed by another process of the machine.
  await expect.poll(delay, { timeout: 60_000 }).toBeLessThan(100);

  await page.mouse.wheel(0, 600);
  await expect.poll(() => page.evaluate("window.scrollY")).toBeGreaterThan(0);
  await emit("custom.while_scrolled");
  const waiting = page.getByRole("button", { name: "1 new event" });
  await expectPage(waiting).toBeVisible();
  await expectPage(row("custom.while_scrolled")).toHaveCount(0);
  await waiting.click();
  await expectPage(row("custom.while_scrolled")).toBeVisible();

  await page.getByRole("button", { name: "Pause" }).click();
  await emit("custom.while_paused");
  await expectPage(page.getByRole("button", { name: "1 new event" })).toBeVisible();
  await page.getByRole("button", { name: "Continue" }).click();
  await expectPage(row("custom.while_paused")).toBeVisible();
});

test("a lost connection is shown, and nothing is missed when it is back", async () => {
  const page = await web.open("/runs");
  await page.route("**/event-logs/stream*", (route) => route.abort());
  await page.goto(`${web.server.url}/events?topic=custom.offline`);
  await expectPage(page.getByText("Connection lost. Trying again…")).toBeVisible();
  await emit("custom.offline");
  await page.unroute("**/event-logs/stream*");
  await expectPage(page.getByRole("row", { name: /custom\.offline/ })).toBeVisible({ timeout: 15_000 });
  await expectPage(page.getByText("Live")).toBeVisible();
});

test("an event says which triggers matched, and why others did not", async () => {
  const page = await web.open(pages.event ?? "");
  await expectPage(page.getByText("event.data.environment == 'production'")).toBeVisible();
  await expectPage(page.getByText('"staging"').last()).toBeVisible();
  await expectPage(page.getByText("The trigger is disabled.")).toBeVisible();
  await page.getByRole("button", { name: /"changes"/ }).click();
  await page.getByRole("button", { name: "{…}" }).first().click();
  await expectPage(page.getByText('"Change 0"')).toBeVisible();
  await expectAccessible(page, "main");
});

test("an event is sent, and the run that it starts follows", async () => {
  const page = await web.open("/events");
  await page.getByRole("link", { name: "Send an event" }).first().click();
  await page.getByLabel("Topic").fill("custom.deploy");
  await page.getByLabel("Data").fill("[1]");
  await expectPage(page.getByText("The data must be a JSON object.")).toBeVisible();
  await page.getByLabel("Data").fill('{"environment": ');
  await expectPage(page.getByText(/This is not JSON/)).toBeVisible();
  await expectAccessible(page, "main");
  await page.getByLabel("Data").fill('{"environment": "production", "services": []}');
  await page.getByRole("button", { name: "Send an event" }).click();
  await page.waitForURL(/\/events\/[\da-f-]+$/);
  await expectPage(page.getByRole("link", { name: /Completed.*Run \d+/ })).toBeVisible();
  await page.getByRole("link", { name: /Run \d+/ }).click();
  await expectPage(page.getByRole("heading", { name: "deploy" })).toBeVisible();

  await page.goto(`${web.server.url}/send-event?topic=%20`);
  await page.getByRole("button", { name: "Send an event" }).click();
  await expectPage(page.getByText("topic: must not be empty")).toBeVisible();
  await expectPage(page.getByLabel("Topic")).toHaveAttribute("aria-invalid", "true");
});

test("an event of a document leads to the document", async () => {
  await callApi(web.server, "POST", "/api/v1.0/documents/", { title: "Travel plans" });
  const page = await web.open("/events?topic=documents.created");
  await page.getByRole("link", { name: "documents.created" }).first().click();
  await page.getByRole("main").getByRole("link", { name: "Travel plans" }).click();
  await expectPage(page.getByRole("textbox", { name: "Title" })).toHaveValue("Travel plans");
});

test("a webhook is called from its page, which shows the call", async () => {
  const page = await web.open("/webhooks");
  await page.getByRole("link", { name: "deploy" }).click();
  await expectPage(page.getByText("•".repeat(24))).toBeVisible();
  await page.getByRole("button", { name: "Show" }).click();
  await expectPage(page.getByText("•".repeat(24))).toHaveCount(0);
  await page.getByRole("button", { name: "Send the request" }).click();
  await expectPage(page.getByText("Webhook received")).toBeVisible();
  await expectPage(page.getByRole("listitem").filter({ hasText: /Processed|Pending/ })).toHaveCount(1);
  await expectAccessible(page, "main");
  await page.keyboard.press("Escape");
  await expectPage(page.getByRole("link", { name: "deploy" })).toBeFocused();
});

test("a schedule shows its next runs, and none while it is paused", async () => {
  const page = await web.open(pages.schedule ?? "");
  const panel = page.getByRole("complementary", { name: "every-night" });
  await expectPage(panel.getByRole("listitem")).toHaveCount(8);
  await panel.getByRole("button", { name: /^Pause/ }).click();
  await expectPage(panel.getByText("No next run while it is paused.")).toBeVisible();
  await panel.getByRole("button", { name: /^Resume/ }).click();
  await expectPage(panel.getByRole("listitem")).toHaveCount(8);
  await expectAccessible(page, "main");
});

test("dead letters are read and redriven, one or all", async () => {
  const page = await web.open("/dead-letters");
  await expectPage(page.getByText(/No message has failed/)).toBeVisible();
  const letters = Array.from({ length: 3 }, (_, index) => ({
    id: `letter-${index}`,
    queue: "dispatch",
    error: `<b>error ${index}</b>`,
    body: JSON.stringify({ detail: { event_id: "e" } }),
    received_at: new Date().toISOString(),
  }));
  // A server has no message that fails at every delivery, unless it has a defect.
  await page.route("**/automation/dead-letters*", (route) =>
    route.fulfill({ json: { data: letters, pagination: { total: letters.length, offset: 0, limit: 50 } } }),
  );
  await page.route("**/automation/dead-letters/*/redrive", (route) => {
    const id = route.request().url().split("/").at(-2);
    letters.splice(
      letters.findIndex((letter) => letter.id === id),
      1,
    );
    return route.fulfill({ status: 202, json: { message: "Message sent again", id, queue: "dispatch" } });
  });
  await page.reload();
  await page
    .getByRole("row", { name: /error 1/ })
    .getByRole("link")
    .click();
  await expectPage(page.getByRole("complementary").getByText("<b>error 1</b>")).toBeVisible();
  await expectAccessible(page, "main");
  await page
    .getByRole("row", { name: /error 0/ })
    .getByRole("button", { name: "Redrive" })
    .click();
  await expectPage(page.getByRole("row", { name: /error 0/ })).toHaveCount(0);
  await page.getByRole("button", { name: "Redrive all" }).click();
  await expectPage(page.getByRole("dialog")).toContainText("2 messages");
  await page.getByRole("dialog").getByRole("button", { name: "Redrive all" }).click();
  await expectPage(page.getByText(/No message has failed/)).toBeVisible();
});

test("findings have a chart with a table, filters, details, and changes since a time", async () => {
  const page = await web.open("/findings");
  await expectPage(page.getByRole("img", { name: /8 in all, at most 8 on one day/ })).toBeVisible();
  await page.getByText("As a table").click();
  await expectPage(page.getByRole("columnheader", { name: "Critical" })).toBeVisible();
  await page.getByLabel("Filter by Severity").selectOption("critical");
  await page.waitForURL(/severity=critical/);
  await page.getByRole("link", { name: "Finding 1 of the scan" }).click();
  await expectPage(page.getByText("Update it to the newest version.")).toBeVisible();
  await expectAccessible(page, "main");
  await page.goto(web.server.url + (pages.changes ?? ""));
  await expectPage(page.getByText("Added: 8")).toBeVisible();
  await expectAccessible(page, "main");
});

test("files are shown as text or images, and never as pages", async () => {
  const page = await web.open("/files");
  await page.getByRole("link", { name: "report.md" }).click();
  const preview = page.getByRole("region", { name: "Preview" });
  await expectPage(preview).toContainText("- <script>alert(1)</script>");
  await expectAccessible(page, "main");
  await page.getByRole("link", { name: "long.txt" }).click();
  await expectPage(preview).toContainText("␛[31mred␛[0m");
  await preview.press("End");
  await expect.poll(() => preview.evaluate((element) => element.scrollTop)).toBeGreaterThan(100_000);
  expect(await preview.locator("> div > div > div").count()).toBeLessThan(120);
  await page.getByRole("link", { name: "plan.svg" }).click();
  await expectPage(page.getByRole("img", { name: "plan" })).toBeVisible();
  const download = page.waitForEvent("download");
  await page.getByRole("link", { name: "Download" }).click();
  expect((await download).suggestedFilename()).toBe("plan.svg");
});

test("functions are found, and their examples are evaluated", async () => {
  const page = await web.open("/functions?q=base64");
  await page.getByRole("link", { name: "base64_encode" }).click();
  await page.getByRole("button", { name: "Evaluate", exact: true }).click();
  await expectPage(page.getByRole("region", { name: "Result" })).toHaveText('"dGV4dA=="');
  await page.getByLabel("Script").fill("nonsense(");
  await page.getByRole("button", { name: "Evaluate", exact: true }).click();
  await expectPage(page.getByRole("alert")).toContainText("Execution failed");
  await expectAccessible(page, "main");
});

test("the platform shows queues, limits and settings", async () => {
  const page = await web.open("/platform");
  await expectPage(page.getByText("Ready")).toBeVisible();
  for (const [part, row] of [
    ["Functions", "ListRunsFunction"],
    ["Queues", "conduct"],
    ["Rules", "dispatch"],
    ["Tables", "runs"],
    ["Limits", "itemBytes"],
    ["Settings", "RUNS_CONCURRENCY_MAX"],
  ] as const) {
    await page.getByRole("link", { name: part, exact: true }).last().click();
    await expectPage(page.getByRole("rowheader", { name: new RegExp(row) }).first()).toBeVisible();
  }
  await expectAccessible(page, "main");
});
