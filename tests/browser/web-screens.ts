import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, BrowserContext, Page } from "@playwright/test";
import type { TestServer } from "../../lib/testing/test-server.ts";
import { createWebExample } from "./web-example.ts";
import { callApi, createUser, launchChromium, logIn, startWebServer } from "./web-server.ts";
import { type View, viewsOf } from "./web-views.ts";

/*
 * `npm run web:screens`: a picture of every page, menu and dialog in each width and color scheme, and one sheet with
 * all of them. With words after `--`, only pictures whose names contain one of them are taken again.
 */
const FOLDER = join(import.meta.dirname, "..", "..", "node_modules", ".cache", "weft-screens");
const WIDTHS = [390, 1280, 1920];
const HEIGHT = 900;
const SCHEMES = ["light", "dark"] as const;
const SHEET_WIDTH = 2400;
const GUEST = "ben@example.org";
const WAIT_MS = 10_000;

const words = process.argv.slice(2);
const isWanted = (name: string): boolean => words.length === 0 || words.some((word) => name.includes(word));

await mkdir(FOLDER, { recursive: true });
await using server = await startWebServer();
await using newServer = await startWebServer();
const browser = await launchChromium();
try {
  const example = await createWebExample(server);
  await createUser(server, GUEST, "Ben Okri");
  await writeComment(browser, example.document);
  const views = viewsOf(example, await shareDocuments(server, example.document));
  for (const width of WIDTHS) await takePictures(browser, views, width);
  const names = (await readdir(FOLDER)).filter((name) => /-\d+-(light|dark)\.png$/.test(name)).toSorted();
  const page = await browser.newPage({ viewport: { width: SHEET_WIDTH, height: HEIGHT } });
  await page.setContent(await contactSheet(names));
  await page.screenshot({ path: join(FOLDER, "contact-sheet.png"), fullPage: true });
  process.stdout.write(`${names.length} pictures and contact-sheet.png are in ${FOLDER}\n`);
} finally {
  await browser.close();
}

/** Lets others see documents of the example, and comments on one. Returns the id of a public document. */
async function shareDocuments(on: TestServer, document: string): Promise<string> {
  const documents = "/api/v1.0/documents/";
  const child = await callApi<{ id: string }>(on, "POST", `${documents}${document}/children/`, {
    title: "Budget",
  });
  await callApi(on, "POST", `${documents}${child.id}/children/`, { title: "Travel costs" });
  await callApi(on, "POST", `${documents}${document}/invitations/`, {
    email: "kim.lee@example.org",
    role: "commenter",
  });
  const shared = await callApi<{ id: string }>(on, "POST", documents, { title: "Agenda of the open day" });
  const content = Buffer.from("# Morning\n\nDoors open at *9*.\n\n# Afternoon\n\nTalks").toString("base64");
  await callApi(on, "PATCH", `${documents}${shared.id}/content/`, { content });
  await callApi(on, "PUT", `${documents}${shared.id}/link-configuration/`, {
    link_reach: "public",
    link_role: "reader",
  });
  return shared.id;
}

async function writeComment(by: Browser, document: string): Promise<void> {
  const context = await by.newContext({ viewport: { width: SHEET_WIDTH, height: HEIGHT } });
  const page = await logIn(server, context);
  await page.goto(`${server.url}/d/${document}`);
  const text = page.getByRole("textbox", { name: "Text of the document" });
  await text.getByText("We meet on").click({ clickCount: 3 });
  await page.getByRole("button", { name: "Comment", exact: true }).click();
  await page.getByLabel("Add a comment").fill("Does Tuesday work, too? Ben is in Lyon on Monday.");
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByRole("list", { name: "Threads" }).getByText("Does Tuesday work").waitFor();
  await context.close();
}

async function takePictures(in_: Browser, views: readonly View[], width: number): Promise<void> {
  const options = { viewport: { width, height: HEIGHT }, colorScheme: SCHEMES[0] };
  const contexts = new Map<View["who"], BrowserContext>();
  const pages = new Map<View["who"], Page>();
  for (const view of views) {
    const names = SCHEMES.map((scheme) => `${view.name}-${width}-${scheme}`);
    if (!names.some(isWanted)) continue;
    const context = contexts.get(view.who) ?? (await in_.newContext(options));
    contexts.set(view.who, context);
    context.setDefaultTimeout(WAIT_MS);
    const page = pages.get(view.who) ?? (await openPage(view.who, context));
    pages.set(view.who, page);
    try {
      await page.goto((view.who === "newcomer" ? newServer : server).url + view.path);
      await page.getByRole("heading", { level: 1 }).first().waitFor();
      await page.waitForLoadState("networkidle").catch(() => undefined);
      await view.open?.(page);
      for (const [at, colorScheme] of SCHEMES.entries()) {
        await page.emulateMedia({ colorScheme });
        await page.screenshot({ path: join(FOLDER, `${names[at]}.png`), animations: "disabled" });
      }
      await page.emulateMedia({ colorScheme: SCHEMES[0] });
      await view.close?.(page);
    } catch (error) {
      process.stderr.write(`${names.join(", ")}: ${error}\n`);
      process.exitCode = 1;
    }
  }
  for (const context of contexts.values()) await context.close();
}

function openPage(who: View["who"], context: BrowserContext): Promise<Page> {
  if (who === "nobody") return context.newPage();
  return logIn(who === "newcomer" ? newServer : server, context, who === "guest" ? GUEST : undefined);
}

async function contactSheet(names: readonly string[]): Promise<string> {
  const figures = await Promise.all(
    names.map(async (name) => {
      const data = await readFile(join(FOLDER, name), "base64");
      return `<figure><img src="data:image/png;base64,${data}"><figcaption>${name}</figcaption></figure>`;
    }),
  );
  const style =
    "body{margin:8px;display:flex;flex-wrap:wrap;gap:8px;background:#888;font:12px sans-serif}figure{margin:0}img{height:200px;display:block}";
  const html = `<!doctype html><style>${style}</style>${figures.join("")}`;
  await writeFile(join(FOLDER, "contact-sheet.html"), html);
  return html;
}
