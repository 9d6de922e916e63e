import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { expect, test } from "vitest";
import { webTest } from "./web-test.ts";

const web = webTest();

const violationsOf = async (page: Page): Promise<string[]> =>
  (await new AxeBuilder({ page }).analyze()).violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html }) => `${id}: ${html}`),
  );

test.each(["light", "dark"] as const)(
  "the help menu has guides, shortcuts and the version, by keyboard: %s",
  async (colorScheme) => {
    const page = await web.signIn({ colorScheme });
    const help = page.getByRole("button", { name: "Help" });
    await help.press("Enter");
    await page.getByRole("menuitem", { name: "API reference" }).waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await page.getByRole("menuitem", { name: "About Weft" }).press("Enter");
    const dialog = page.getByRole("dialog", { name: "About Weft" });
    await dialog.getByText(/^Version \d/).waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });
    await expect.poll(() => help.evaluate((element) => element === document.activeElement)).toBe(true);
    await help.press("Enter");
    await page.getByRole("menuitem", { name: "Keyboard shortcuts" }).press("Enter");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
  },
);

test.each(["light", "dark"] as const)(
  "an empty list leads to its guide, and a guide to others: %s",
  async (colorScheme) => {
    const page = await web.open("/webhooks", { colorScheme });
    await page.getByRole("link", { name: "Read the guide" }).press("Enter");
    await page.getByRole("heading", { level: 1, name: "Triggers" }).waitFor();
    expect(new URL(page.url()).hash).toBe("#webhook-triggers");
    await expect
      .poll(() => page.getByRole("heading", { name: "Webhook triggers" }).boundingBox())
      .toMatchObject({ y: expect.toSatisfy((y: number) => y >= 0 && y < 200) });
    expect(await violationsOf(page)).toEqual([]);
    await page
      .getByRole("navigation", { name: "Guides" })
      .getByRole("link", { name: "The web interface" })
      .click();
    await page.getByRole("heading", { level: 1, name: "The web interface" }).waitFor();
    await expect
      .poll(() =>
        page
          .locator("article img")
          .first()
          .evaluate((image: HTMLImageElement) => image.naturalWidth),
      )
      .toBeGreaterThan(0);
    await page.getByRole("article").getByRole("link", { name: "identity provider" }).click();
    await page.waitForURL("**/guide/documents-login-with-oidc");
    await page.goBack();
    await page.getByRole("heading", { level: 1, name: "The web interface" }).waitFor();
  },
);

test("a heading of a guide is reached each time, and an address that names none shows the guide", async () => {
  const page = await web.open("/webhooks");
  const heading = page.getByRole("heading", { name: "Webhook triggers" });
  for (const _time of ["first", "second"]) {
    await page.getByRole("link", { name: "Read the guide" }).press("Enter");
    await expect
      .poll(() => heading.boundingBox())
      .toMatchObject({ y: expect.toSatisfy((y: number) => y >= 0 && y < 200) });
    await page.goBack();
  }
  await page.goto(`${web.server.url}/guide/tour#100%`);
  await page.getByRole("heading", { level: 1, name: "Tour" }).waitFor();
});

test("a guide is shown without a session, and an unknown one is not found", async () => {
  const page = await (await web.newContext()).newPage();
  await page.goto(web.server.url);
  await page.getByRole("link", { name: "Read the guide" }).click();
  await page.getByRole("heading", { level: 1, name: "Tour" }).waitFor();
  await page.goto(`${web.server.url}/guide/nothing`);
  await page.getByRole("heading", { name: "Not found" }).waitFor();
});
