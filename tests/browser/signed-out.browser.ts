import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import AxeBuilder from "@axe-core/playwright";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "@playwright/test";
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from "vitest";
import { SESSION_COOKIE } from "../../lib/documents/login/session-id.ts";
import { ADA } from "../../lib/testing/test-oidc-login.ts";
import { startTestOidcProvider, type TestOidcProvider } from "../../lib/testing/test-oidc-provider.ts";
import type { TestServer } from "../../lib/testing/test-server.ts";
import { launchChromium, logIn, startWebServer } from "./web-server.ts";

const WAIT = { timeout: 15_000 };
const HOME = "Documents and workflows in one place";
const LOGO = `data:image/svg+xml,${encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" width="96" height="24"><rect width="96" height="24" rx="4" fill="#3a7d44"/></svg>')}`;
const THEME = {
  header: { logo: { src: LOGO, alt: "Garden club" } },
  favicon: { light: { href: "/garden/light.svg" }, dark: { href: "https://elsewhere.example/dark.svg" } },
};

let browser: Browser;
let folder: string;
let provider: TestOidcProvider;
/** Signs users in silently, and has no home page. */
let silent: TestServer;
/** Has a theme, a style sheet and a script. */
let themed: TestServer;
const problems: string[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "weft-theme-"));
  const path = join(folder, "theme.json");
  await writeFile(path, JSON.stringify(THEME));
  provider = await startTestOidcProvider();
  silent = await startWebServer({
    ...provider.settings,
    FRONTEND_SILENT_LOGIN_ENABLED: "true",
    FRONTEND_HOMEPAGE_FEATURE_ENABLED: "false",
  });
  provider.register(silent.url);
  themed = await startWebServer({
    THEME_CUSTOMIZATION_FILE_PATH: path,
    FRONTEND_THEME: "garden",
    FRONTEND_CSS_URL: "/garden/site.css",
    FRONTEND_JS_URL: "https://elsewhere.example/site.js",
  });
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  await silent?.[Symbol.asyncDispose]();
  await themed?.[Symbol.asyncDispose]();
  await provider?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});
afterEach(() => {
  expect(problems.splice(0)).toEqual([]);
});

async function openContext(options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const context = await browser.newContext(options);
  onTestFinished(() => context.close());
  context.setDefaultTimeout(WAIT.timeout);
  context.on("weberror", (error) => problems.push(String(error.error())));
  context.on("console", (message) => {
    if (message.text().includes("Content Security Policy")) problems.push(message.text());
  });
  return context;
}

/** Serves what the operator has at the address of the server, besides Weft. */
const serveGarden = (context: BrowserContext): Promise<unknown> =>
  context.route("**/garden/**", (route) =>
    route.fulfill(
      route.request().url().endsWith(".css")
        ? { contentType: "text/css", body: "[data-theme='garden'] h1 { letter-spacing: 3px }" }
        : { contentType: "image/svg+xml", body: '<svg xmlns="http://www.w3.org/2000/svg"/>' },
    ),
  );

const spacingOf = (page: Page): Promise<string> =>
  page.locator("h1").evaluate((heading) => getComputedStyle(heading).letterSpacing);

test.each(["light", "dark"] as const)(
  "without a session, the home page says what this is and how to sign in: %s",
  async (colorScheme) => {
    const context = await openContext({ colorScheme });
    await serveGarden(context);
    const page = await context.newPage();
    await page.goto(themed.url);
    await page.getByRole("heading", { level: 1, name: HOME }).waitFor();
    await page.getByRole("img", { name: "Garden club" }).waitFor();
    expect((await new AxeBuilder({ page }).analyze()).violations).toEqual([]);
    await page.route("**/authenticate/**", (route) => route.abort(), { times: 1 });
    await page.getByRole("button", { name: "Sign in" }).press("Enter");
    await page.getByText("The server does not respond.").waitFor();
    await page.getByRole("button", { name: "Sign in" }).press("Enter");
    await page.getByText("This server has no identity provider").waitFor();
    await page.goto(`${themed.url}/runs`);
    await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
  },
);

test("the logo, the symbol and the style sheet of the operator are used, and nothing of other servers", async () => {
  const context = await openContext({ colorScheme: "light" });
  await serveGarden(context);
  const page = await logIn(themed, context);
  const requested: string[] = [];
  page.on("request", (request) => requested.push(request.url()));
  await page.reload();
  await page.getByRole("link", { name: "Garden club" }).first().waitFor();
  await expect.poll(() => spacingOf(page), WAIT).toBe("3px");
  const icon = page.locator("link[rel='icon']");
  expect(await icon.getAttribute("href")).toBe(`${themed.url}/garden/light.svg`);
  await page.emulateMedia({ colorScheme: "dark" });
  await page.reload();
  await expect.poll(() => spacingOf(page), WAIT).toBe("3px");
  expect(await icon.getAttribute("href")).not.toContain("elsewhere");
  expect(requested.filter((url) => url.includes("elsewhere"))).toEqual([]);
});

test("a user with a session at the identity provider is signed in without a prompt, once per tab", async () => {
  const context = await openContext();
  const page = await context.newPage();
  await page.goto(`${silent.url}/?list=mine`);
  // Nobody is signed in at the provider yet.
  await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
  expect(new URL(page.url()).search).toBe("?list=mine");
  provider.signIn(ADA);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { level: 1, name: "Documents" }).waitFor();
  expect(new URL(page.url()).search).toBe("?list=mine");
  await context.clearCookies({ name: SESSION_COOKIE });
  await page.reload();
  await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
  const other = await context.newPage();
  await other.goto(`${silent.url}/?list=mine`);
  await other.getByRole("heading", { level: 1, name: "Documents" }).waitFor();
  expect(new URL(other.url()).search).toBe("?list=mine");
});

test("a link to a new document leads through the login to a page that creates one, with the title as text", async () => {
  const context = await openContext();
  provider.signIn(ADA);
  const page = await context.newPage();
  const title = "Plan & <img src=x onerror=alert(1)>";
  await page.goto(`${silent.url}/docs/new/?${new URLSearchParams({ title, "link-reach": "public" })}`);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { level: 1, name: "Create a document?" }).waitFor();
  const field = page.getByRole("textbox", { name: "Title" });
  expect(await field.inputValue()).toBe(title);
  const documents = async (): Promise<readonly { readonly link_reach: string }[]> => {
    const response = await page.request.get(`${silent.url}/api/v1.0/documents/`);
    return ((await response.json()) as { results: { link_reach: string }[] }).results;
  };
  expect(await documents()).toEqual([]);
  expect((await new AxeBuilder({ page }).analyze()).violations).toEqual([]);
  await page.getByRole("button", { name: "Create" }).dblclick();
  await page.waitForURL(/\/d\//);
  await expect.poll(() => page.getByRole("textbox", { name: "Title" }).inputValue(), WAIT).toBe(title);
  expect(await documents()).toEqual([expect.objectContaining({ title, link_reach: "restricted" })]);
});
