import { beforeAll, test } from "vitest";
import { expectAccessible } from "./accessibility.ts";
import { callApi, createUser } from "./web-server.ts";
import { expectPage as expect, webTest } from "./web-test.ts";

const web = webTest();

beforeAll(async () => {
  await createUser(web.server, "ben@example.com", "Ben Ode");
});

test("a token is created, shown once and revoked; sessions end; others see that tokens are the owner's", async () => {
  const page = await web.open("/settings/tokens");
  await page.getByLabel("Name of the token").fill("Robot");
  await page.getByLabel("Email address of its user").fill("robot@example.com");
  await page.getByRole("button", { name: "Create", exact: true }).click();
  const token = (await page.locator("code").textContent()) ?? "";
  const me = await fetch(`${web.server.url}/api/v1.0/users/me/`, {
    headers: { authorization: `Bearer ${token}` },
  });
  expect(me.status).toBe(200);
  await page.reload();
  await expect(page.getByRole("row", { name: /Robot/ })).toBeVisible();
  await expect(page.getByText(token)).toHaveCount(0);
  await page.getByRole("button", { name: "Revoke Robot" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke", exact: true }).click();
  await expect(page.getByRole("row", { name: /Robot/ })).toHaveCount(0);
  const refused = await fetch(`${web.server.url}/api/v1.0/users/me/`, {
    headers: { authorization: `Bearer ${token}` },
  });
  expect(refused.status).toBe(401);

  const other = await web.signIn();
  await page.goto(`${web.server.url}/settings/sessions`);
  await page.getByRole("button", { name: "End all others" }).click();
  await expect(page.getByRole("row")).toHaveCount(2);
  await other.reload();
  await expect(other.getByRole("heading", { name: "Sign in" })).toBeVisible();

  const ben = await web.open("/settings/tokens", { email: "ben@example.com" });
  await expect(ben.getByText("Only the owner of this installation")).toBeVisible();
});

test("language and notifications are set, and own data is exported", async () => {
  const page = await web.open("/settings/general", { email: "ben@example.com" });
  // The page changes at once, before the language is stored.
  const setLanguage = async (label: string, language: string, heading: string): Promise<void> => {
    const stored = page.waitForResponse((response) => response.request().method() === "PATCH");
    await page.getByLabel(label).selectOption(language);
    await expect(page.getByRole("heading", { level: 1 })).toHaveText(heading);
    await stored;
  };
  await setLanguage("Language", "fr", "Paramètres");
  // Another device has the stored language from the login on.
  const device = await web.signIn({ email: "ben@example.com" });
  await expect(device.getByRole("link", { name: "Paramètres" })).toBeVisible();
  await setLanguage("Langue", "en", "Settings");
  await page.goto(`${web.server.url}/settings/notifications`);
  const box = page.getByRole("checkbox", { name: "Comments that mention you: By email" });
  await expect(box).toBeChecked();
  const SETTINGS = "**/users/me/notification-settings";
  const answer = Promise.withResolvers<void>();
  await page.route(SETTINGS, async (route) => {
    await answer.promise;
    await route.continue();
  });
  const stored = page.waitForResponse(SETTINGS);
  // The state changes at once, however late the server answers.
  await box.uncheck();
  answer.resolve();
  await stored;
  await page.unroute(SETTINGS);
  await page.reload();
  await expect(box).not.toBeChecked();
  // The stored state is shown again after a failure, with the reason.
  await page.route(SETTINGS, (route) =>
    route.request().method() === "PATCH" ? route.fulfill({ status: 500, json: {} }) : route.fallback(),
  );
  await box.click();
  await expect(page.getByRole("status").getByText("This did not work: ")).toBeVisible();
  await expect(box).not.toBeChecked();
  await page.goto(`${web.server.url}/settings/data`);
  await page.getByRole("button", { name: "Export my data" }).click();
  const download = page.waitForEvent("download");
  await page.getByRole("link", { name: "Download" }).click();
  expect((await download).suggestedFilename()).toMatch(/\.zip$/);
});

test("a notification is counted, leads to what happened, and is read then", async () => {
  const { id } = await callApi<{ id: string }>(web.server, "POST", "/api/v1.0/documents/", {
    title: "For Ben",
  });
  const [ben] = await callApi<{ id: string }[]>(web.server, "GET", "/api/v1.0/users/?q=ben@example.com");
  await callApi(web.server, "POST", `/api/v1.0/documents/${id}/accesses/`, {
    user_id: ben?.id,
    role: "reader",
  });
  const page = await web.signIn({ email: "ben@example.com" });
  await page
    .getByRole("link", { name: "Notifications, 1 unread notification" })
    .or(page.getByText("1 unread notification"))
    .first()
    .waitFor();
  await page.goto(`${web.server.url}/notifications`);
  await page.getByRole("link", { name: /shared For Ben with you/ }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("For Ben");
  await page.goto(`${web.server.url}/notifications?list=unread`);
  await expect(page.getByText("You have read everything.")).toBeVisible();
});

test("a tab that is out of sight on a small screen is scrolled into view", async () => {
  const page = await web.open("/settings/data", { viewport: { width: 390, height: 800 } });
  await expect(page.getByRole("link", { name: "My data" })).toBeInViewport({ ratio: 0.9 });
  await page.goto(`${web.server.url}/settings/general`);
  await expect(page.getByRole("link", { name: "General" })).toBeInViewport({ ratio: 0.9 });
});

test("axe finds nothing on the settings that are not among the pages of the example, and in the menu", async () => {
  const page = await web.signIn();
  for (const part of ["notifications", "data"]) {
    await page.goto(`${web.server.url}/settings/${part}`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.waitForLoadState("networkidle");
    await expectAccessible(page);
  }
  await page.getByRole("button", { name: /^Account/ }).click();
  await page.getByRole("menuitem", { name: "Log out" }).waitFor();
  await expectAccessible(page);
});
