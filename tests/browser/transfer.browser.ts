import { test } from "vitest";
import { expectAccessible } from "./accessibility.ts";
import { callApi } from "./web-server.ts";
import { expectPage as expect, webTest } from "./web-test.ts";

const web = webTest(async () => ({ CONVERSION_UPLOAD_ENABLED: "true" }));

async function create(title: string, markdown: string, parent?: string): Promise<string> {
  const path = parent === undefined ? "/api/v1.0/documents/" : `/api/v1.0/documents/${parent}/children/`;
  const { id } = await callApi<{ id: string }>(web.server, "POST", path, { title });
  const content = Buffer.from(markdown).toString("base64");
  await callApi(web.server, "PATCH", `/api/v1.0/documents/${id}/content/`, { content });
  return id;
}

test("files are imported by the button and by dropping them, and each failure is named", async () => {
  const page = await web.signIn();
  const chooser = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: "Import", exact: true }).click();
  const markup = "<img src=x onerror=alert(1)>.md";
  await (await chooser).setFiles([
    { name: "Journey.md", mimeType: "text/markdown", buffer: Buffer.from("# Journey\n\nBy train.") },
    { name: markup, mimeType: "text/markdown", buffer: Buffer.from("text") },
    { name: "photo.exe", mimeType: "application/octet-stream", buffer: Buffer.from("MZ") },
    { name: "broken.docx", mimeType: "text/plain", buffer: Buffer.from("no document") },
  ]);
  const list = page.getByRole("region", { name: "Imports" });
  const entry = (name: string) => list.getByRole("listitem").filter({ hasText: name });
  await expect(entry("Journey.md")).toContainText("Imported");
  await expect(entry(markup)).toContainText("Imported");
  await expect(entry("photo.exe")).toContainText("Not imported: only");
  await expect(entry("broken.docx")).toContainText(/Not imported: .+/);
  await expectAccessible(page);
  await entry("Journey.md").getByRole("link", { name: "Open" }).click();
  await expect(page.getByRole("textbox", { name: "Text of the document" })).toContainText("By train.");

  await page.goto(web.server.url);
  await page.getByRole("button", { name: "Import", exact: true }).waitFor();
  const files = await page.evaluateHandle(() => {
    const transfer = new DataTransfer();
    transfer.items.add(new File(["# Dropped"], "Dropped.md", { type: "text/markdown" }));
    return transfer;
  });
  await page.dispatchEvent("body", "dragenter", { dataTransfer: files });
  await page.getByText("Drop files to import them").dispatchEvent("drop", { dataTransfer: files });
  await expect(page.getByRole("main").getByRole("link", { name: "Dropped.md", exact: true })).toBeVisible();
});

test("a document is exported as a file, and a tree as a zip by a job", async () => {
  const root = await create("Exported", "Some text.");
  await create("Below", "More text.", root);
  const page = await web.open(`/d/${root}`);
  const open = async (): Promise<void> => {
    await page.getByRole("button", { name: "Actions for this document" }).click();
    await page.getByRole("menuitem", { name: "Export…" }).click();
  };
  await open();
  const dialog = page.getByRole("dialog", { name: "Export Exported" });
  await dialog.getByRole("radio", { name: "Markdown (.md)" }).check();
  await expectAccessible(page);
  const download = page.waitForEvent("download");
  await dialog.getByRole("button", { name: "Export" }).click();
  expect((await download).suggestedFilename()).toBe("Exported.md");
  await dialog.getByRole("checkbox", { name: "With everything below it, as Markdown in a zip" }).check();
  await dialog.getByRole("button", { name: "Export" }).click();
  const zip = page.waitForEvent("download");
  await dialog.getByRole("link", { name: "Download" }).click();
  expect((await zip).suggestedFilename()).toBe("Exported.zip");
});

test("the search finds words in texts, and opens the document at the block that matched", async () => {
  const filler = Array.from({ length: 60 }, (_, at) => `Paragraph ${at}.`).join("\n\n");
  await create("Expedition", `${filler}\n\nThe <b>quokka</b> sleeps here.\n\n${filler}`);
  const page = await web.signIn();
  await page.keyboard.press("Control+K");
  const field = page.getByRole("textbox", { name: "Search or go to" });
  await field.fill("quokka sleeps");
  const result = page.getByRole("dialog").getByRole("button").filter({ hasText: "Expedition" });
  await expect(result.locator("mark").first()).toHaveText("quokka");
  await expectAccessible(page);
  await field.press("Enter");
  const block = page.getByText("sleeps here.").first();
  await expect(block).toBeInViewport();
});

test("the trash says how long a document can be restored, as its page does", async () => {
  const id = await create("Thrown away", "text");
  const remove = () => callApi(web.server, "DELETE", `/api/v1.0/documents/${id}/`);
  await remove();
  const page = await web.signIn();
  // The link of an email, which leads to the page.
  await page.goto(`${web.server.url}/docs/${id}/`);
  await expect(page.getByText("This document is in the trash.")).toBeVisible();
  await expect(page.getByRole("button", { name: "Share" })).toHaveCount(0);
  await page.getByRole("button", { name: "Restore" }).click();
  await expect(page.getByRole("button", { name: "Share" })).toBeVisible();
  await remove();
  await page.goto(`${web.server.url}/?list=trash`);
  const row = page.getByRole("listitem").filter({ hasText: "Thrown away" });
  await expect(row).toContainText("30 days left");
  await row.getByRole("button", { name: "Restore" }).click();
  await expect(page.getByText("The trash is empty.")).toBeVisible();
});
