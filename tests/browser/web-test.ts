import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type Page,
  expect as playwrightExpect,
} from "@playwright/test";
import { afterAll, afterEach, beforeAll, expect, onTestFinished } from "vitest";
import type { TestServer } from "../../lib/testing/test-server.ts";
import { launchChromium, logIn, startWebServer } from "./web-server.ts";

/** A loaded machine is slow. */
const WAIT_MS = 30_000;
const START_MS = 120_000;

/** Expectations about pages, which wait. */
export const expectPage = playwrightExpect.configure({ timeout: WAIT_MS });

export interface SignInOptions extends BrowserContextOptions {
  /** The user with this address instead of the owner. */
  readonly email?: string;
}

/** The server and the browser of the tests of a file. */
export interface WebTest {
  readonly server: TestServer;
  readonly browser: Browser;
  /** A browser of its own, without cookies and storage of others, until the test ends. */
  newContext(options?: BrowserContextOptions): Promise<BrowserContext>;
  /** A page of a user who is signed in. */
  signIn(options?: SignInOptions): Promise<Page>;
  /** The same, at a path. */
  open(path: string, options?: SignInOptions): Promise<Page>;
  /** Starts the killed server again, with its data and at its address. */
  restart(): Promise<void>;
}

/**
 * Starts a server and a browser before the tests of a file, and stops them afterwards. A test fails if one of its pages
 * reports an error or a violation of the content security policy.
 */
export function webTest(
  settings: () => Promise<Readonly<Record<string, string>>> = async () => ({}),
): WebTest {
  let server: TestServer;
  const started: TestServer[] = [];
  let browser: Browser;
  const problems: string[] = [];
  beforeAll(async () => {
    const env = await settings();
    [server, browser] = await Promise.all([startWebServer(env), launchChromium()]);
    started.push(server);
  }, START_MS);
  afterAll(async () => {
    await browser?.close();
    for (const one of started) await one[Symbol.asyncDispose]();
  });
  afterEach(() => {
    expect(problems.splice(0)).toEqual([]);
  });
  const newContext: WebTest["newContext"] = async (options) => {
    const context = await browser.newContext(options);
    onTestFinished(() => context.close());
    context.setDefaultTimeout(WAIT_MS);
    watch(context, problems);
    return context;
  };
  const signIn: WebTest["signIn"] = async ({ email, ...options } = {}) =>
    logIn(server, await newContext(options), email);
  return {
    get server() {
      return server;
    },
    get browser() {
      return browser;
    },
    newContext,
    signIn,
    open: async (path, options) => {
      const page = await signIn(options);
      await page.goto(server.url + path);
      return page;
    },
    restart: async () => {
      const { dataDir, url } = server;
      server = await startWebServer({ ...(await settings()), PORT: new URL(url).port }, dataDir);
      started.unshift(server);
    },
  };
}

/** Adds the errors of the pages of a browser, and the violations of their policies, to `problems`. */
export function watch(context: BrowserContext, problems: string[]): void {
  context.on("weberror", (error) => problems.push(String(error.error())));
  context.on("console", (message) => {
    if (message.text().includes("Content Security Policy")) problems.push(message.text());
  });
}
