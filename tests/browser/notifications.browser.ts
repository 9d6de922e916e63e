import { beforeAll, expect, test } from "vitest";
import { callApi, createUser } from "./web-server.ts";
import { expectPage, webTest } from "./web-test.ts";

const DOCUMENTS = "/api/v1.0/documents/";
const BEN = "ben@example.com";
/** Edits are announced half a minute after the first one, and who has no stream reads every 20 seconds. */
const ANNOUNCED = { timeout: 90_000 };
const READ_AGAIN = { timeout: 45_000 };

const web = webTest();
let ben: string;

beforeAll(async () => {
  await createUser(web.server, BEN, "Ben Ode");
  const [user] = await callApi<{ id: string }[]>(web.server, "GET", `/api/v1.0/users/?q=${BEN}`);
  ben = user?.id ?? "";
});

/** Creates a document that Ben may read. */
async function shareDocument(title: string): Promise<string> {
  const { id } = await callApi<{ id: string }>(web.server, "POST", DOCUMENTS, { title });
  await callApi(web.server, "POST", `${DOCUMENTS}${id}/accesses/`, { user_id: ben, role: "reader" });
  return id;
}

test("who is mentioned in a text is notified, with the text, and led to its block", async () => {
  const page = await web.open(`/d/${await shareDocument("Plan")}`);
  const text = page.getByRole("textbox", { name: "Text of the document" });
  const name = page.getByRole("option", { name: "Ben Ode" });
  await text.click();
  // The menus are loaded after the text.
  await expectPage(async () => {
    await page.keyboard.press("Control+A");
    await page.keyboard.type("Please check, @Ben");
    await expectPage(name).toBeVisible({ timeout: 3_000 });
  }).toPass();
  await page.keyboard.press("Enter");
  await expectPage(text.locator(".mention")).toHaveText("@Ben Ode");
  await page.keyboard.type("by Friday.");

  const theirs = await web.open("/notifications?list=unread", { email: BEN });
  const mention = theirs.getByRole("listitem").filter({ hasText: "owner mentioned you in Plan" });
  await expectPage(mention).toContainText("Please check, @Ben Ode by Friday.", ANNOUNCED);
  await mention.getByRole("link").click();
  await expectPage(theirs.locator("[data-found]")).toContainText("Please check");
});

test("who may not read the event log sees what others share without a reload, and asks for no stream again", async () => {
  const page = await web.signIn({ email: BEN });
  // A page asks for a stream half a second after it was loaded: this one, too, if it is still open by then.
  await page.goto("about:blank");
  const streams: string[] = [];
  page.on("request", (request) => {
    if (request.url().includes("/event-logs/stream")) streams.push(request.url());
  });
  const refused = page.waitForResponse((response) => response.url().includes("/event-logs/stream"));
  await page.goto(web.server.url);
  await page.getByRole("heading", { level: 1, name: "Documents" }).waitFor();
  expect((await refused).status()).toBe(403);
  await shareDocument("Shared meanwhile");
  const main = page.getByRole("main");
  await expectPage(main.getByRole("link", { name: "Shared meanwhile" })).toBeVisible(READ_AGAIN);
  await expectPage(page.getByText(/unread notification/).first()).toBeAttached(READ_AGAIN);
  expect(streams).toHaveLength(1);
});
