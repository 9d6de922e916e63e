import type { Locator, Page } from "@playwright/test";
import { beforeAll, expect, test } from "vitest";
import { expectAccessible } from "./accessibility.ts";
import { callApi } from "./web-server.ts";
import { expectPage, webTest } from "./web-test.ts";

const TALK = "Welcome\n\n# One\n\nfirst\n\n# Two\n\nsecond";

const web = webTest();
let id: string;

beforeAll(async () => {
  ({ id } = await callApi<{ id: string }>(web.server, "POST", "/api/v1.0/documents/", { title: "Talk" }));
  const content = Buffer.from(TALK).toString("base64");
  await callApi(web.server, "PATCH", `/api/v1.0/documents/${id}/content/`, { content });
});

const presentation = (page: Page): Locator => page.getByRole("dialog", { name: "Presentation: Talk" });
const slideOf = (page: Page): string | null => new URL(page.url()).searchParams.get("slide");

test("a document is presented as slides, whose number is in the address", async () => {
  const page = await web.open(`/d/${id}`);
  const button = page.getByRole("button", { name: "Present" });
  await button.press("Enter");
  const dialog = presentation(page);
  await expectPage(dialog).toContainText("Slide 1 of 3");
  await page.keyboard.press("ArrowRight");
  await expectPage(dialog).toContainText("first");
  expect(slideOf(page)).toBe("2");
  await page.keyboard.press("End");
  await expectPage(dialog).toContainText("second");
  // Keys of the page do nothing meanwhile.
  await page.keyboard.press("c");
  await page.keyboard.press("Escape");
  await expectPage(dialog).toHaveCount(0);
  await expect.poll(() => slideOf(page)).toBeNull();
  await expectPage(page.getByRole("textbox", { name: "Title" })).toHaveValue("Talk");
  await expectPage(button).toBeFocused();
});

test("an address leads to a slide, and an edit of another user changes what is presented", async () => {
  const page = await web.open(`/d/${id}?slide=2`);
  const dialog = presentation(page);
  await expectPage(dialog).toContainText("first");
  await expectPage(dialog).toContainText("Slide 2 of 3");
  const other = await web.open(`/d/${id}`);
  await other.getByText("first").click();
  await other.keyboard.press("End");
  await other.keyboard.type(" of all");
  await expectPage(dialog).toContainText("first of all");
  await page.goto(`${web.server.url}/d/${id}?slide=99`);
  await expectPage(dialog).toContainText("Slide 3 of 3");
});

test("the overview and the keys are reached by keyboard, and Escape leads back to the slide", async () => {
  const page = await web.open(`/d/${id}?slide=1`);
  const dialog = presentation(page);
  await expectPage(dialog).toContainText("Slide 1 of 3");
  await page.keyboard.press("o");
  const overview = dialog.getByRole("list", { name: "All slides" });
  await expectPage(overview.getByRole("button")).toHaveText([/^1Welcome/, /^2One.*first/, /^3Two.*second/]);
  await expectPage(overview.getByRole("button").first()).toBeFocused();
  await expectAccessible(page);
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  await expectPage(dialog).toContainText("second");
  expect(slideOf(page)).toBe("3");
  await page.keyboard.press("?");
  await expectPage(dialog.getByRole("heading", { name: "Keys of the presentation" })).toBeVisible();
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  await expectPage(dialog).toContainText("second");
  await page.goBack();
  await expectPage(dialog).toHaveCount(0);
});

test("a key presents the document: in the text from the cursor on, as the menu of a block does", async () => {
  const page = await web.open(`/d/${id}`);
  const dialog = presentation(page);
  const text = page.getByRole("textbox", { name: "Text of the document" });
  await page.getByRole("button", { name: "Present" }).focus();
  await page.keyboard.press("Control+Alt+p");
  await expectPage(dialog).toContainText("Slide 1 of 3");
  await page.keyboard.press("Escape");
  await expectPage(page.getByRole("button", { name: "Present" })).toBeFocused();
  await text.getByText("first").click();
  await page.keyboard.press("Control+Alt+p");
  await expectPage(dialog).toContainText("Slide 2 of 3");
  await page.keyboard.press("Escape");
  await expectPage(dialog).toHaveCount(0);
  await expectPage(text).toBeFocused();
  await text.getByText("second").click();
  await expect.poll(() => page.evaluate(() => getSelection()?.anchorNode?.textContent)).toBe("second");
  await page.keyboard.press("Control+/");
  await page.getByRole("menuitem", { name: /^Present from here/ }).press("Enter");
  await expectPage(dialog).toContainText("Slide 3 of 3");
  await page.keyboard.press("Escape");
  await expectPage(dialog).toHaveCount(0);
  await expectPage(text).toBeFocused();
  await page.getByRole("button", { name: "Present" }).focus();
  await page.keyboard.press("?");
  await expectPage(page.getByRole("dialog", { name: "Keyboard shortcuts" })).toContainText(
    /Present.*Ctrl\+Alt\+P/,
  );
});
