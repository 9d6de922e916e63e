import { randomUUID } from "node:crypto";
import type { Locator, Page } from "@playwright/test";
import { test } from "vitest";
import { expectAccessible } from "./accessibility.ts";
import { callApi } from "./web-server.ts";
import { expectPage as expect, webTest } from "./web-test.ts";

const web = webTest();

async function create(title: string, parent?: string): Promise<string> {
  const path = parent === undefined ? "/api/v1.0/documents/" : `/api/v1.0/documents/${parent}/children/`;
  return (await callApi<{ id: string }>(web.server, "POST", path, { title })).id;
}

async function childrenOf(parent: string): Promise<(string | null)[]> {
  const path = `/api/v1.0/documents/${parent}/children/?page_size=200`;
  const { results } = await callApi<{ results: { title: string | null }[] }>(web.server, "GET", path);
  return results.map(({ title }) => title);
}

const treeOf = (page: Page): Locator => page.getByRole("tree", { name: "Tree of documents" });
const item = (page: Page, name: string): Locator => treeOf(page).getByRole("treeitem", { name, exact: true });

test("the keyboard leads through the tree, opens, moves and finds documents", async () => {
  const root = await create("Keyboard");
  for (const title of ["One", "Two", "Three"]) await create(title, root);
  const page = await web.signIn();
  await item(page, "Keyboard").waitFor();
  const tree = treeOf(page);
  await tree.focus();
  await page.keyboard.type("Key");
  await page.keyboard.press("ArrowRight");
  await expect(item(page, "One")).toBeVisible();
  await expect(item(page, "Keyboard")).toHaveAttribute("aria-expanded", "true");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("textbox", { name: "Title" })).toHaveValue("Two");
  await expect(item(page, "Two")).toHaveAttribute("aria-current", "page");

  await tree.focus();
  await page.keyboard.press("Alt+ArrowUp");
  await expect.poll(() => childrenOf(root)).toEqual(["Two", "One", "Three"]);
  await page.getByRole("button", { name: "Undo" }).click();
  await expect.poll(() => childrenOf(root)).toEqual(["One", "Two", "Three"]);

  const target = await create("Keyboard target");
  await tree.focus();
  await page.keyboard.press("Shift+F10");
  await page.getByRole("menuitem", { name: "Move to…" }).press("Enter");
  await page.getByRole("textbox", { name: "Move Two to" }).fill("Keyboard target");
  await page.getByRole("dialog").getByText("Keyboard target", { exact: true }).waitFor();
  await page.keyboard.press("Enter");
  await expect.poll(() => childrenOf(target)).toEqual(["Two"]);
  await expect.poll(() => childrenOf(root)).toEqual(["One", "Three"]);
});

test("documents are dragged before, after and into others, and from the list", async () => {
  // Another title in each attempt.
  const title = `Drag${randomUUID().slice(0, 8)}`;
  const root = await create(title);
  for (const child of ["A", "B", "C"]) await create(child, root);
  await create(`Loose ${title}`);
  const page = await web.signIn();
  await item(page, title).waitFor();
  await treeOf(page).focus();
  await page.keyboard.type(title);
  await page.keyboard.press("ArrowRight");
  await item(page, "C").dragTo(item(page, "A"), { targetPosition: { x: 60, y: 2 } });
  await expect.poll(() => childrenOf(root)).toEqual(["C", "A", "B"]);
  // The next drag starts where the row is shown.
  await expect(item(page, "C")).toHaveAttribute("aria-posinset", "1");
  await item(page, "C").dragTo(item(page, "B"), { targetPosition: { x: 60, y: 28 } });
  await expect.poll(() => childrenOf(root)).toEqual(["A", "B", "C"]);
  await expect(item(page, "C")).toHaveAttribute("aria-posinset", "3");
  await item(page, "B").dragTo(item(page, "A"), { targetPosition: { x: 60, y: 15 } });
  await expect.poll(() => childrenOf(root)).toEqual(["A", "C"]);
  await expect(item(page, "C")).toHaveAttribute("aria-posinset", "2");
  const row = page.getByRole("main").getByRole("link", { name: `Loose ${title}`, exact: true });
  await row.dragTo(item(page, "C"), { targetPosition: { x: 60, y: 15 } });
  await expect.poll(() => childrenOf(root)).toEqual(["A", "C"]);
  await expect(item(page, "C")).toHaveAttribute("aria-expanded", "false");
});

test("the open document is revealed, and a large tree renders only what is visible", async () => {
  const root = await create("Large");
  const middle = await create("Middle", root);
  let last = "";
  for (let at = 0; at < 250; at += 1) last = await create(`Page ${at}`, middle);
  const page = await web.open(`/d/${last}`);
  await expect(item(page, "Page 249")).toBeVisible();
  await expect(item(page, "Page 249")).toHaveAttribute("aria-level", "3");
  // All pages before it are loaded as well.
  await expect(item(page, "Page 249")).toHaveAttribute("aria-posinset", "250");
  expect(await treeOf(page).getByRole("treeitem").count()).toBeLessThan(80);
  await treeOf(page).focus();
  for (let at = 0; at < 5; at += 1) await page.keyboard.press("ArrowUp");
  await expect(item(page, "Page 244")).toHaveAttribute("data-active", "true");
  await expect(item(page, "Page 244")).toBeInViewport();
  await page.keyboard.press("ArrowLeft");
  await expect(item(page, "Middle")).toBeInViewport();
  expect(await treeOf(page).getByRole("treeitem").count()).toBeLessThan(80);
});

test("a document is created inside another, is a favorite, and the sidebar becomes narrow", async () => {
  const root = await create("Parent");
  const page = await web.signIn();
  await item(page, "Parent").hover();
  await item(page, "Parent").getByRole("button", { name: "Add inside Parent" }).click();
  await page.getByRole("textbox", { name: "Title" }).fill("Child");
  await expect.poll(() => childrenOf(root)).toEqual(["Child"]);
  await expect(item(page, "Child")).toHaveAttribute("aria-current", "page");
  await item(page, "Child").hover();
  await item(page, "Child").getByRole("button", { name: "Actions for Child" }).click();
  await page.getByRole("menuitem", { name: "Add to favorites" }).click();
  await expect(
    page.getByRole("list", { name: "Favorites" }).getByRole("link", { name: "Child" }),
  ).toBeVisible();

  await page.getByRole("button", { name: "Collapse the sidebar" }).click();
  await expect(treeOf(page)).toBeHidden();
  await page.reload();
  await expect(page.getByRole("link", { name: "Documents", exact: true }).first()).toBeVisible();
  expect((await page.getByRole("navigation", { name: "Main" }).boundingBox())?.width).toBeLessThan(60);
  await page.keyboard.press("[");
  await expect(treeOf(page)).toBeVisible();
});

test("axe finds nothing in the tree, its menu and the move dialog", async () => {
  const title = "Tree for axe";
  await create("Accessible", await create(title));
  const page = await web.signIn();
  await item(page, title).waitFor();
  await treeOf(page).focus();
  await page.keyboard.type(title);
  await page.keyboard.press("ArrowRight");
  await expect(item(page, "Accessible")).toBeVisible();
  await expectAccessible(page);
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Shift+F10");
  await page.getByRole("menuitem", { name: "Move to…" }).waitFor();
  await expectAccessible(page);
  await page.getByRole("menuitem", { name: "Move to…" }).click();
  await page.getByRole("dialog").getByText("Top level").waitFor();
  await expectAccessible(page);
});

test("the sidebar has the width that it is dragged to or that keys give it, also after a reload", async () => {
  const page = await web.signIn({ viewport: { width: 1280, height: 800 } });
  const side = page.locator("header").filter({ has: page.getByRole("navigation", { name: "Main" }) });
  const width = async (): Promise<number> => Math.round((await side.boundingBox())?.width ?? 0);
  const handle = page.getByRole("separator", { name: "Width of the sidebar" });
  await expect(handle).toHaveAttribute("aria-valuenow", "240");
  await handle.hover();
  await page.mouse.down();
  await page.mouse.move(330, 300, { steps: 5 });
  await page.mouse.up();
  await expect(handle).toHaveAttribute("aria-valuenow", "330");
  await expect.poll(width).toBe(330);
  await page.mouse.move(600, 300);
  await expect.poll(width).toBe(330);
  await handle.press("ArrowLeft");
  await expect.poll(width).toBe(314);
  await expectAccessible(page);
  await page.reload();
  await expect.poll(width).toBe(314);
  await expect(handle).toHaveAttribute("aria-valuenow", "314");
  await handle.press("End");
  await expect.poll(width).toBe(480);
  await handle.press("Home");
  await expect.poll(width).toBe(200);
  await handle.dblclick();
  await expect.poll(width).toBe(240);
});
