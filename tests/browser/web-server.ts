import { fileURLToPath } from "node:url";
import { type Browser, type BrowserContext, chromium, type Page } from "@playwright/test";
import { startTestServer, type TestServer } from "../../lib/testing/test-server.ts";
import { ensureWeb } from "../../web/build/build.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";

/** Builds the web interface unless it is current. */
export const ensureBuilt = (): Promise<unknown> => ensureWeb(ROOT);

/** A server that serves the web interface, with new data or those of a folder. */
export async function startWebServer(
  env: Readonly<Record<string, string>> = {},
  dataDir?: string,
): Promise<TestServer> {
  await ensureBuilt();
  return startTestServer({
    ...(dataDir === undefined ? {} : { dataDir }),
    env: { WEFT_ACCESS_TOKEN: "token-of-the-browser-tests", ...env },
  });
}

export const launchChromium = (): Promise<Browser> =>
  chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-dev-shm-usage"] });

/** Sends a request with the installation's token, and returns the body. Rejects for an error. */
export async function callApi<Body>(
  server: TestServer,
  method: string,
  path: string,
  body?: unknown,
): Promise<Body> {
  const response = await fetch(server.url + path, {
    method,
    headers: { authorization: `Bearer ${server.token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return (response.status === 204 ? undefined : await response.json()) as Body;
}

/** Signs a browser in by a one-time link, as the owner or as the user with this address. */
export async function logIn(server: TestServer, context: BrowserContext, email?: string): Promise<Page> {
  const { url } = await callApi<{ url: string }>(
    server,
    "POST",
    "/api/v1.0/login-links/",
    email === undefined ? {} : { email },
  );
  const page = await context.newPage();
  await page.goto(url);
  // The page of a link for another user asks first.
  if (email !== undefined) await page.getByRole("button").click();
  await page.getByRole("main").waitFor();
  return page;
}

/** Creates a user who may use documents. */
export const createUser = (server: TestServer, email: string, name: string): Promise<unknown> =>
  callApi(server, "POST", "/api/v1.0/access-tokens/", { email, name, scopes: ["documents"] });
