import type { Browser, BrowserContext, Page } from "@playwright/test";
import { launchChromium, logIn } from "../../tests/browser/web-server.ts";
import { addCleanup } from "./cleanup.ts";
import { percentile } from "./numbers.ts";
import type { Server } from "./server.ts";

const SIZE = { width: 1280, height: 900 };
/** Time between two keys, milliseconds: longer than the slowest frame that is expected. */
const KEY_DELAY_MS = 120;
const WAIT_MAX_MS = 60_000;
const POLL_MS = 20;

/** Begins what the page writes to its console when it has noted a mark. */
const SHOWN = "shown: ";

/**
 * Notes on `window.marks` when elements first appear on the screen: `window.watched` has a selector and its name.
 * A frame is on the screen when a task that was queued in its animation callback is executed.
 */
const MARKS = `
window.marks = {};
window.afterFrame = (note) => requestAnimationFrame(() => {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => note(performance.timeOrigin + performance.now());
  port2.postMessage(undefined);
});
window.watch = (name, isThere) => {
  const look = () => {
    if (window.marks[name] !== undefined || !isThere()) return;
    window.marks[name] = 0;
    observer.disconnect();
    window.afterFrame((at) => {
      window.marks[name] = at;
      console.debug("${SHOWN}" + name);
    });
  };
  const observer = new MutationObserver(look);
  observer.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
  look();
};
`;

/** Notes for each key when it was pressed, and when the next frame was on the screen. */
const KEYS = `
window.keys = [];
addEventListener("keydown", () => {
  const pressedAt = performance.timeOrigin + performance.now();
  window.afterFrame((shownAt) => window.keys.push({ pressedAt, shownAt }));
}, { capture: true });
`;

export interface Key {
  readonly pressedAt: number;
  readonly shownAt: number;
}

export async function openBrowser(): Promise<Browser> {
  const browser = await launchChromium();
  addCleanup(() => browser.close());
  return browser;
}

/** Defines the functions above in a page that is open. */
export const addMarks = (page: Page): Promise<unknown> => page.evaluate(`${MARKS}\n0`);

/** A signed-in browser with an empty cache. */
export async function signIn(browser: Browser, server: Server): Promise<BrowserContext> {
  // A service worker would have kept the files of the sign-in.
  const context = await browser.newContext({ viewport: SIZE, serviceWorkers: "block" });
  await context.addInitScript(MARKS);
  const page = await logIn(server, context);
  const session = await context.newCDPSession(page);
  await session.send("Network.clearBrowserCache");
  await page.close();
  return context;
}

/**
 * Opens an address, and returns the time from the navigation until `isThere`, an expression, is true on the screen. Nothing
 * is evaluated in the page meanwhile, which would take time from it.
 */
export async function openTimed(
  context: BrowserContext,
  address: string,
  isThere: string,
): Promise<{ readonly page: Page; readonly ms: number }> {
  const page = await context.newPage();
  await page.addInitScript(`window.watch("shown", () => ${isThere})`);
  const shown = page.waitForEvent("console", {
    predicate: (message) => message.text() === `${SHOWN}shown`,
    timeout: WAIT_MAX_MS,
  });
  await Promise.all([shown, page.goto(address)]);
  const ms = (await markOf(page, "shown")) - (await page.evaluate<number>("performance.timeOrigin"));
  return { page, ms };
}

/** Waits until an expression is true. The pages' policy forbids `waitForFunction`. */
export async function waitFor(page: Page, expression: string): Promise<void> {
  const end = performance.now() + WAIT_MAX_MS;
  while (!(await page.evaluate<boolean>(expression))) {
    if (performance.now() > end) throw new Error(`waited for ${expression}`);
    await page.waitForTimeout(POLL_MS);
  }
}

/** When something first was on the screen, milliseconds since 1970. */
export async function markOf(page: Page, name: string): Promise<number> {
  await waitFor(page, `window.marks.${name} > 0`);
  return page.evaluate<number>(`window.marks.${name}`);
}

/** Presses a key `count` times in what has the focus, and returns when each was pressed and shown. */
export async function typeTimed(page: Page, count: number): Promise<readonly Key[]> {
  await page.evaluate(KEYS);
  for (let pressed = 0; pressed < count; pressed += 1) {
    await page.keyboard.press("x");
    await page.waitForTimeout(KEY_DELAY_MS);
  }
  await waitFor(page, `window.keys.length >= ${count}`);
  return page.evaluate<Key[]>("window.keys");
}

/** The time from the key to its frame, milliseconds. */
export const keyToFrame = (keys: readonly Key[], part: number): number =>
  percentile(
    keys.map(({ pressedAt, shownAt }) => shownAt - pressedAt),
    part,
  );

/** Compressed bytes of the scripts and styles that a page loads by itself, as gzip. */
export async function loadedBytes(
  context: BrowserContext,
  address: string,
  isThere: string,
): Promise<number> {
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send("Network.enable");
  await session.send("Network.setCacheDisabled", { cacheDisabled: true });
  await page.setExtraHTTPHeaders({ "accept-encoding": "gzip" });
  let bytes = 0;
  session.on("Network.responseReceived", ({ type, response: { headers } }) => {
    if (type === "Script" || type === "Stylesheet") bytes += Number(headers["content-length"]);
  });
  await page.addInitScript(`window.watch("shown", () => ${isThere})`);
  await page.goto(address);
  await markOf(page, "shown");
  await page.waitForLoadState("networkidle");
  await page.close();
  return bytes;
}
