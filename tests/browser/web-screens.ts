import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { createWebExample } from "./web-example.ts";
import { launchChromium, logIn, startWebServer } from "./web-server.ts";

/* `npm run web:screens`: a picture of every page in each width and color scheme, and one sheet with all of them. */
const FOLDER = join(import.meta.dirname, "..", "..", "node_modules", ".cache", "weft-screens");
const WIDTHS = [390, 1280, 1920];
const HEIGHT = 900;
const SCHEMES = ["light", "dark"] as const;
const SHEET_WIDTH = 2000;

await mkdir(FOLDER, { recursive: true });
await using server = await startWebServer();
const browser = await launchChromium();
try {
  const { pages } = await createWebExample(server);
  const pictures: string[] = [];
  for (const colorScheme of SCHEMES) {
    for (const width of WIDTHS) {
      const context = await browser.newContext({ viewport: { width, height: HEIGHT }, colorScheme });
      const anonymous = await context.newPage();
      await anonymous.goto(server.url);
      pictures.push(await takePicture(anonymous, `login-${width}-${colorScheme}`));
      const page = await logIn(server, context);
      for (const [name, path] of Object.entries(pages)) {
        await page.goto(server.url + path);
        pictures.push(await takePicture(page, `${name}-${width}-${colorScheme}`));
      }
      await context.close();
    }
  }
  const page = await browser.newPage({ viewport: { width: SHEET_WIDTH, height: HEIGHT } });
  await page.setContent(await contactSheet(pictures));
  await page.screenshot({ path: join(FOLDER, "contact-sheet.png"), fullPage: true });
  process.stdout.write(`${pictures.length} pictures and contact-sheet.png are in ${FOLDER}\n`);
} finally {
  await browser.close();
}

/** Returns the name of the file. */
async function takePicture(page: Page, name: string): Promise<string> {
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  await page.waitForLoadState("networkidle");
  await page.screenshot({ path: join(FOLDER, `${name}.png`) });
  return `${name}.png`;
}

async function contactSheet(names: readonly string[]): Promise<string> {
  const figures = await Promise.all(
    names.map(async (name) => {
      const data = await readFile(join(FOLDER, name), "base64");
      return `<figure><img src="data:image/png;base64,${data}"><figcaption>${name}</figcaption></figure>`;
    }),
  );
  const style =
    "body{margin:8px;display:flex;flex-wrap:wrap;gap:8px;background:#888;font:12px sans-serif}figure{margin:0}img{height:220px;display:block}";
  const html = `<!doctype html><style>${style}</style>${figures.join("")}`;
  await writeFile(join(FOLDER, "contact-sheet.html"), html);
  return html;
}
