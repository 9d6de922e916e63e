import { type Browser, type Page, expect as playwrightExpect } from "@playwright/test";
import { afterAll, beforeAll, onTestFinished, test } from "vitest";
import type { TestServer } from "../../lib/testing/test-server.ts";
import { expectAccessible } from "./accessibility.ts";
import { callApi, createUser, launchChromium, logIn, startWebServer } from "./web-server.ts";

/** A loaded machine is slow. */
const expect = playwrightExpect.configure({ timeout: 20_000 });

let browser: Browser;
let weft: TestServer;

beforeAll(async () => {
  [browser, weft] = await Promise.all([launchChromium(), startWebServer()]);
  await createUser(weft, "ben@example.com", "Ben Ode");
});
afterAll(async () => {
  await browser?.close();
  await weft?.[Symbol.asyncDispose]();
});

/** Signs in a user in a browser of their own. */
async function signIn(email?: string): Promise<Page> {
  const context = await browser.newContext();
  onTestFinished(() => context.close());
  return logIn(weft, context, email);
}

const newDocument = (title: string): Promise<{ id: string }> =>
  callApi(weft, "POST", "/api/v1.0/documents/", { title });

test("a user requests access, the owner accepts by keyboard, changes the role, removes it and undoes that", async () => {
  const { id } = await newDocument("Budget");
  const ben = await signIn("ben@example.com");
  await ben.goto(`${weft.url}/d/${id}`);
  await ben.getByLabel("What you want to do").selectOption("commenter");
  await expectAccessible(ben, "main", "[role=dialog]");
  await ben.getByRole("button", { name: "Request access" }).click();
  await expect(ben.getByText("You requested access as: Commenter.")).toBeVisible();

  const owner = await signIn();
  await owner.goto(`${weft.url}/d/${id}`);
  const share = owner.getByRole("button", { name: "Share" });
  await share.focus();
  await owner.keyboard.press("Enter");
  const dialog = owner.getByRole("dialog", { name: "Share" });
  const accept = dialog.getByRole("button", { name: "Accept" });
  await expect(accept).toBeVisible();
  await expectAccessible(owner, "main", "[role=dialog]");
  await accept.press("Enter");
  const role = dialog.getByLabel("Role of Ben Ode");
  await expect(role).toHaveValue("commenter");
  await expect(accept).toBeHidden();
  await role.selectOption("editor");
  await expect
    .poll(async () =>
      (await callApi<{ role: string }[]>(weft, "GET", `/api/v1.0/documents/${id}/accesses/`))
        .map((one) => one.role)
        .toSorted(),
    )
    .toEqual(["editor", "owner"]);

  await dialog.getByRole("button", { name: "Remove Ben Ode" }).press("Enter");
  await expect(role).toBeHidden();
  await owner.getByRole("button", { name: "Undo" }).click();
  await expect(role).toHaveValue("editor");

  await owner.keyboard.press("Escape");
  await expect(dialog).toBeHidden();
  await expect(share).toBeFocused();
  await ben.reload();
  await expect(ben.getByLabel("Text of the document")).toHaveAttribute("contenteditable", "true");
});

test("people are found by their name, invited by their address, and reach a document by its link", async () => {
  const { id } = await newDocument("Handbook");
  const owner = await signIn();
  await owner.goto(`${weft.url}/d/${id}`);
  await owner.getByRole("button", { name: "Share" }).click();
  const dialog = owner.getByRole("dialog", { name: "Share" });
  const field = dialog.getByLabel("Name or email address");
  await field.fill("ben@example.com");
  // Choosing a suggestion fills in its text, which is searched for, too.
  const searched = owner.waitForResponse((response) => response.url().includes("q=Ben"));
  await owner.getByRole("option", { name: /Ben Ode/ }).click();
  await searched;
  await dialog.getByRole("button", { name: "Add", exact: true }).click();
  await expect(dialog.getByLabel("Role of Ben Ode")).toHaveValue("editor");
  await field.fill("new@example.com");
  await field.press("Enter");
  await expect(dialog.getByText("Invited by email")).toBeVisible();

  await dialog.getByLabel("Who can open the link").selectOption("public");
  await dialog.getByLabel("What the link allows").selectOption("reader");
  const read = (): Promise<unknown> => callApi(weft, "GET", `/api/v1.0/documents/${id}/`);
  await expect.poll(read).toMatchObject({ link_reach: "public", link_role: "reader" });

  // A document below shows what it inherits, and from where.
  const child = await callApi<{ id: string }>(weft, "POST", `/api/v1.0/documents/${id}/children/`, {
    title: "Page",
  });
  await owner.goto(`${weft.url}/d/${child.id}`);
  await owner.getByRole("button", { name: "Share" }).click();
  await expect(
    dialog.getByRole("region", { name: "Inherited access" }).getByText("From Handbook"),
  ).toHaveCount(2);
  await expectAccessible(owner, "main", "[role=dialog]");

  // A reader sees no controls.
  const reader = await signIn("ben@example.com");
  await callApi(weft, "GET", `/api/v1.0/documents/${id}/accesses/`);
  await reader.goto(`${weft.url}/d/${child.id}`);
  await reader.getByRole("button", { name: "Share" }).click();
  await expect(reader.getByRole("button", { name: "Copy the link" })).toBeVisible();
  await expect(reader.getByLabel("Name or email address")).toHaveCount(0);
});

test("a public link shows a document without a session, and lets everybody write if it allows that; others lead to the login", async () => {
  const { id } = await newDocument("Agenda");
  const setLink = (link_role: string): Promise<unknown> =>
    callApi(weft, "PUT", `/api/v1.0/documents/${id}/link-configuration/`, {
      link_reach: "public",
      link_role,
    });
  await setLink("editor");
  const context = await browser.newContext();
  onTestFinished(() => context.close());
  const visitor = await context.newPage();
  await visitor.goto(`${weft.url}/d/${id}`);
  const text = visitor.getByRole("textbox", { name: "Text of the document" });
  await text.click();
  await visitor.keyboard.type("Written by a visitor");
  await expect(visitor.getByText("Saved", { exact: true })).toBeVisible();
  await expectAccessible(visitor, "main", "[role=dialog]");

  const owner = await signIn();
  await owner.goto(`${weft.url}/d/${id}`);
  await expect(owner.getByText("Written by a visitor")).toBeVisible();
  await setLink("reader");
  await expect(visitor.getByText("View only")).toBeVisible();

  await callApi(weft, "PUT", `/api/v1.0/documents/${id}/link-configuration/`, { link_reach: "restricted" });
  await expect(visitor.getByText("Written by a visitor")).toBeHidden();
  await visitor.reload();
  await expect(visitor.getByRole("heading", { name: "Sign in" })).toBeVisible();
});
