import type { Page } from "@playwright/test";
import { beforeAll, expect, test } from "vitest";
import { expectAccessible } from "./accessibility.ts";
import { callApi, createUser } from "./web-server.ts";
import { expectPage, webTest } from "./web-test.ts";

const MARKUP = `<img src=x onerror="document.title='owned'"><script>alert(1)</script>`;
const DOCUMENTS = "/api/v1.0/documents/";
/** Characters in the elements of a page that shows a part of a long text: some hundred rows. */
const DRAWN_MAX = 500_000;

/** A step prints one line of 10 MB between sequences of terminals and markup, and writes a file with a hostile name. */
const HOSTILE = `name: hostile
params: [{name: note, default: none}]
steps:
  - name: print
    type: bash
    command: |
      printf '\\033[31mred\\033[0m ${MARKUP.replaceAll("'", "'\\''")} \\033]0;owned\\007\\n'
      head -c 10000000 /dev/zero | tr '\\0' x
      printf ' the end of the line'
      echo x > '<b>report<b>.txt'
  - name: fail
    type: bash
    command: echo {{note}} >&2; exit 3
    on_error: [{action: continue}]
reports:
  - {name: "<i>report</i>", path: "<b>report<b>.txt"}
`;

const web = webTest();
let run: string;

beforeAll(async () => {
  await createUser(web.server, "mallory@example.com", MARKUP);
  await web.server.storeWorkflow(HOSTILE);
  ({ run_uuid: run } = await web.server.run({ module: "hostile", target: MARKUP, params: { note: MARKUP } }));
});

/** Expects that no markup of a page's content became an element, and that no script of it has run. */
async function expectText(page: Page): Promise<void> {
  expect(await page.locator("main").locator("img, script, b, i").count()).toBe(0);
  expect(await page.title()).not.toBe("owned");
}

const drawnIn = (page: Page): Promise<number> => page.evaluate(() => document.body.textContent?.length ?? 0);

test("a line of 10 MB is drawn in parts, searched and loaded from its beginning", async () => {
  const page = await web.open(`/runs/${run}?step=print&tab=output`);
  const output = page.getByRole("log", { name: "Output" });
  await expectPage(output).toContainText("the end of the line");
  expect(await drawnIn(page)).toBeLessThan(DRAWN_MAX);
  const earlier = output.getByRole("button", { name: "Load earlier lines" });
  await expectPage(async () => {
    if ((await earlier.count()) > 0) await earlier.click({ timeout: 1_000 });
    await expectPage(earlier).toHaveCount(0, { timeout: 500 });
  }).toPass();
  await output.press("Home");
  await expectPage(output).toContainText(`red ${MARKUP}`);
  await expectPage(output.locator("[data-color=red]")).toHaveText("red");
  expect(await drawnIn(page)).toBeLessThan(DRAWN_MAX);
  await page.getByLabel("Search in: Output").fill("END OF THE LINE");
  await expectPage(output.locator("mark")).toHaveText("end of the line");
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download" }).click();
  expect((await download).suggestedFilename()).toBe("print.stdout.txt");
  await expectText(page);
  await expectAccessible(page, "main");
});

test("the log, the params, the error and the files of a run are shown as text", async () => {
  const page = await web.open(`/runs/${run}?view=log`);
  await expectPage(page.getByRole("log", { name: "Log" })).toContainText("[fail]");
  expect(await drawnIn(page)).toBeLessThan(DRAWN_MAX);
  await expectText(page);
  await page.getByRole("link", { name: "Steps", exact: true }).click();
  await page.getByRole("link", { name: /^fail/ }).click();
  await expectPage(page.getByRole("complementary", { name: "fail" })).toContainText(MARKUP);
  await expectText(page);
  for (const path of [`/runs/${run}?view=artifacts`, "/files"]) {
    await page.goto(web.server.url + path);
    await expectPage(page.getByText(/<b>report<b>|<i>report<\/i>/).first()).toBeVisible();
    await expectText(page);
  }
  await page.goto(`${web.server.url}/runs`);
  await expectPage(page.getByText(MARKUP).first()).toBeVisible();
  await expectText(page);
});

test("the data and the topic of an event are shown as text", async () => {
  const { event_id } = await web.server.emit({
    topic: "custom.<b>hostile</b>",
    data: {
      [MARKUP]: MARKUP,
      ansi: "\u001b[31mred\u001b[0m \u202e reversed",
      line: "x".repeat(900_000),
    },
  });
  const page = await web.open("/events");
  await expectPage(page.getByRole("link", { name: "custom.<b>hostile</b>" })).toBeVisible();
  await page.goto(`${web.server.url}/events/${event_id.replace("evt_", "")}`);
  await expectPage(page.getByText("\\u001b[31mred\\u001b[0m \\u202e reversed")).toBeVisible();
  await expectPage(page.getByText("onerror").first()).toBeVisible();
  await page.getByRole("button", { name: /900,000 characters/ }).click();
  const data = page.getByRole("region", { name: "Data" });
  expect(await data.locator("> div > div > div").count()).toBeLessThan(120);
  await data.press("End");
  await expectPage(page.getByText(/x"$/)).toBeVisible();
  await expectText(page);
  expect(await page.title()).toContain("custom.");
  await expectAccessible(page, "main");
});

test("titles, names, comments and texts of documents are shown as text", async () => {
  const { id } = await callApi<{ id: string }>(web.server, "POST", DOCUMENTS, { title: MARKUP });
  const [mallory] = await callApi<{ id: string }[]>(
    web.server,
    "GET",
    "/api/v1.0/users/?q=mallory@example.com",
  );
  await callApi(web.server, "POST", `${DOCUMENTS}${id}/accesses/`, { user_id: mallory?.id, role: "editor" });
  const content = Buffer.from(`${MARKUP}\n\n[link](javascript:alert(1))\n\n<svg onload=alert(1)>`);
  await callApi(web.server, "PATCH", `${DOCUMENTS}${id}/content/`, { content: content.toString("base64") });
  const theirs = await web.open(`/d/${id}?panel=comments`, { email: "mallory@example.com" });
  await theirs.getByLabel("Add a comment").fill(MARKUP);
  await theirs.keyboard.press("Control+Enter");

  const page = await web.open(`/d/${id}?panel=comments`);
  const comments = page.getByRole("complementary", { name: "Comments" });
  await expectPage(comments.getByText(MARKUP)).toHaveCount(2);
  await expectPage(page.getByRole("textbox", { name: "Title" })).toHaveValue(MARKUP);
  const links = page.getByLabel("Text of the document").locator("a");
  expect(
    await links.evaluateAll(
      (all) => all.filter((link) => /^\s*javascript:/i.test((link as HTMLAnchorElement).href)).length,
    ),
  ).toBe(0);
  await expectPage(page).toHaveTitle(`${MARKUP} · Weft`);
  await expectPage(page.getByRole("treeitem", { name: MARKUP })).toBeVisible();
  await page.getByRole("button", { name: "Share" }).click();
  await expectPage(page.getByRole("dialog").getByText(MARKUP).first()).toBeVisible();
  expect(await page.locator("img[src=x], script:not([src])").count()).toBe(0);
  await page.keyboard.press("Escape");

  await page.goto(web.server.url);
  await expectPage(page.getByRole("main").getByRole("link", { name: MARKUP })).toBeVisible();
  await page
    .getByRole("main")
    .getByRole("button", { name: `Actions for ${MARKUP}` })
    .click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await expectPage(page.getByRole("status").getByText(MARKUP)).toBeVisible();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.goto(`${web.server.url}/notifications`);
  await expectPage(page.getByText(`${MARKUP} commented on ${MARKUP}`)).toBeVisible();
  await expectText(page);
});
