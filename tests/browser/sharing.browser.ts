import { beforeAll, test } from "vitest";
import { expectAccessible } from "./accessibility.ts";
import { callApi, createUser } from "./web-server.ts";
import { expectPage as expect, webTest } from "./web-test.ts";

const web = webTest();

beforeAll(async () => {
  await createUser(web.server, "ben@example.com", "Ben Ode");
});

const newDocument = (title: string): Promise<{ id: string }> =>
  callApi(web.server, "POST", "/api/v1.0/documents/", { title });

test("a user requests access, the owner accepts by keyboard, changes the role, removes it and undoes that", async () => {
  const { id } = await newDocument("Budget");
  const ben = await web.open(`/d/${id}`, { email: "ben@example.com" });
  await ben.getByLabel("What you want to do").selectOption("commenter");
  await expectAccessible(ben, "main", "[role=dialog]");
  await ben.getByRole("button", { name: "Request access" }).click();
  await expect(ben.getByText("You requested access as: Commenter.")).toBeVisible();

  const owner = await web.open(`/d/${id}`);
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
      (await callApi<{ role: string }[]>(web.server, "GET", `/api/v1.0/documents/${id}/accesses/`))
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
  const owner = await web.open(`/d/${id}`);
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
  await expect(dialog.getByText("Invited", { exact: true })).toBeVisible();

  await dialog.getByLabel("Who can open the link").selectOption("public");
  await dialog.getByLabel("What the link allows").selectOption("reader");
  const read = (): Promise<unknown> => callApi(web.server, "GET", `/api/v1.0/documents/${id}/`);
  await expect.poll(read).toMatchObject({ link_reach: "public", link_role: "reader" });

  // A document below shows what it inherits, and from where.
  const child = await callApi<{ id: string }>(web.server, "POST", `/api/v1.0/documents/${id}/children/`, {
    title: "Page",
  });
  await owner.goto(`${web.server.url}/d/${child.id}`);
  await owner.getByRole("button", { name: "Share" }).click();
  await expect(
    dialog.getByRole("region", { name: "Inherited access" }).getByText("From Handbook"),
  ).toHaveCount(2);
  await expectAccessible(owner, "main", "[role=dialog]");

  // A reader sees no controls.
  const reader = await web.signIn({ email: "ben@example.com" });
  await callApi(web.server, "GET", `/api/v1.0/documents/${id}/accesses/`);
  await reader.goto(`${web.server.url}/d/${child.id}`);
  await reader.getByRole("button", { name: "Share" }).click();
  await expect(reader.getByRole("button", { name: "Copy the link" })).toBeVisible();
  await expect(reader.getByLabel("Name or email address")).toHaveCount(0);
});

test("a person can be added while the list is read again after the one before", async () => {
  const { id } = await newDocument("Plan");
  const owner = await web.open(`/d/${id}`);
  await owner.getByRole("button", { name: "Share" }).click();
  const dialog = owner.getByRole("dialog", { name: "Share" });
  await expect(dialog.getByLabel("Role of")).not.toHaveCount(0);
  const release = Promise.withResolvers<void>();
  await owner.route(/\/invitations(?:\/|\?|$)/, async (route) => {
    if (route.request().method() === "GET") await release.promise;
    await route.fallback();
  });
  const field = dialog.getByLabel("Name or email address");
  await field.fill("first@example.com");
  const added = owner.waitForResponse((response) => response.request().method() === "POST");
  await field.press("Enter");
  await added;
  await field.fill("second@example.com");
  await field.press("Enter");
  release.resolve();
  await expect(dialog.getByText("Invited", { exact: true })).toHaveCount(2);
  await expect(field).toHaveValue("");
});

test("a change that the server refuses says why at its control, and the input stays", async () => {
  const { id } = await newDocument("Refused");
  const { id: ben } = (
    await callApi<{ id: string }[]>(web.server, "GET", `/api/v1.0/users/?q=ben@example.com&document_id=${id}`)
  )[0] ?? { id: "" };
  await callApi(web.server, "POST", `/api/v1.0/documents/${id}/accesses/`, { user_id: ben, role: "editor" });
  const owner = await web.open(`/d/${id}`);
  await owner.getByRole("button", { name: "Share" }).click();
  const dialog = owner.getByRole("dialog", { name: "Share" });
  const role = dialog.getByLabel("Role of Ben Ode");
  await expect(role).toHaveValue("editor");
  let reason = "";
  await owner.route(/\/(?:accesses|invitations|link-configuration)(?:\/|$)/, async (route) => {
    if (reason === "" || route.request().method() === "GET") await route.fallback();
    else await route.fulfill({ status: 400, json: { detail: reason } });
  });
  const reasonOf = (text: string) => dialog.getByRole("alert").filter({ hasText: text });

  reason = "No more invitations today.";
  const field = dialog.getByLabel("Name or email address");
  await field.fill("new@example.com");
  await field.press("Enter");
  await expect(reasonOf(reason)).toBeVisible();
  await expect(field).toHaveValue("new@example.com");
  await expectAccessible(owner, "[role=dialog]");
  reason = "";
  await field.press("Enter");
  await expect(dialog.getByText("Invited", { exact: true })).toBeVisible();
  await expect(dialog.getByRole("alert")).toHaveCount(0);

  reason = "Roles are fixed.";
  await role.selectOption("reader");
  const row = dialog.getByRole("listitem").filter({ has: owner.getByLabel("Role of Ben Ode") });
  await expect(row.getByRole("alert")).toHaveText(reason);
  await expect(role).toHaveValue("editor");
  reason = "Links are not allowed.";
  await dialog.getByLabel("Who can open the link").selectOption("public");
  await expect(reasonOf(reason)).toBeVisible();
  await expect(dialog.getByLabel("Who can open the link")).toHaveValue("restricted");
});

test("a public link shows a document without a session, and lets everybody write if it allows that; others lead to the login", async () => {
  const { id } = await newDocument("Agenda");
  const setLink = (link_role: string): Promise<unknown> =>
    callApi(web.server, "PUT", `/api/v1.0/documents/${id}/link-configuration/`, {
      link_reach: "public",
      link_role,
    });
  await setLink("editor");
  const context = await web.newContext();
  const visitor = await context.newPage();
  await visitor.goto(`${web.server.url}/d/${id}`);
  const text = visitor.getByRole("textbox", { name: "Text of the document" });
  await text.click();
  await visitor.keyboard.type("Written by a visitor");
  await expect(visitor.getByText("Saved", { exact: true })).toBeVisible();
  await expectAccessible(visitor, "main", "[role=dialog]");

  const owner = await web.open(`/d/${id}`);
  await expect(owner.getByText("Written by a visitor")).toBeVisible();
  await setLink("reader");
  await expect(visitor.getByText("View only")).toBeVisible();

  await callApi(web.server, "PUT", `/api/v1.0/documents/${id}/link-configuration/`, {
    link_reach: "restricted",
  });
  await expect(visitor.getByText("Written by a visitor")).toBeHidden();
  await visitor.reload();
  await expect(visitor.getByRole("heading", { name: "Sign in" })).toBeVisible();
});
