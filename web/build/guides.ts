import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { Marked, type Tokens } from "marked";
import type { Plugin } from "vite";

const DOCS = fileURLToPath(new URL("../../docs/", import.meta.url));
const MODULE = /^(.*\.md)\?(title|guide)$/;
const EXTERNAL = /^[a-z]+:/;
const IMAGE = "\u0000image:";

/**
 * Makes the guides in `docs/` modules of the page: `<file>.md?title` is the title, and `<file>.md?guide` the HTML. Links
 * between guides lead to their pages; those to other files of the checkout are only text.
 */
export const guides = (): Plugin => ({
  name: "weft:guides",
  enforce: "pre",
  load: async (id) => {
    const [, path, query] = MODULE.exec(id) ?? [];
    if (path === undefined) return null;
    const text = await readFile(path, "utf8");
    const code =
      query === "title"
        ? `export default ${JSON.stringify(titleOf(text))};`
        : moduleOf(guideHtml(path, text));
    return { code, moduleType: "js" };
  },
});

/** The last part of the address of a guide, such as `steps-bash` for `docs/steps/bash.md`. */
export const guideName = (path: string): string =>
  relative(DOCS, path).replace(/\.md$/, "").replaceAll(sep, "-");

const titleOf = (text: string): string => (/^# (.+)$/m.exec(text)?.[1] ?? "").replaceAll("`", "");

/** What GitHub calls a heading in the address of a page. */
const slugOf = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(" ", "-");

/** The HTML of a guide; images are named by their paths, between marks. */
function guideHtml(path: string, text: string): string {
  const folder = dirname(path);
  const markdown = new Marked({
    renderer: {
      // Comments say where generated tables begin; other markup is an example, which is in code.
      html: () => "",
      heading({ tokens, depth, text: name }: Tokens.Heading): string {
        const id = depth === 1 ? "" : ` id="${slugOf(name)}"`;
        return `<h${depth}${id}>${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }: Tokens.Link): string {
        const label = this.parser.parseInline(tokens);
        const address = addressOf(folder, href);
        if (address === undefined) return label;
        const isExternal = EXTERNAL.test(address);
        return `<a href="${address}"${isExternal ? ' rel="noreferrer"' : ""}>${label}</a>`;
      },
      image: ({ href, text: alt }: Tokens.Image): string =>
        `<img src="${IMAGE}${join(folder, href)}\u0000" alt="${alt}" loading="lazy">`,
    },
  });
  return markdown.parse(text, { async: false });
}

/** Where a link of a guide leads; undefined if the page does not have what it names. */
function addressOf(folder: string, href: string): string | undefined {
  if (EXTERNAL.test(href) || href.startsWith("#")) return href;
  const [file = "", hash] = href.split("#");
  const path = join(folder, file);
  const isGuide = path.startsWith(DOCS) && path.endsWith(".md") && existsSync(path);
  return isGuide ? `/guide/${guideName(path)}${hash === undefined ? "" : `#${hash}`}` : undefined;
}

/** A script that exports the HTML, with the addresses of its images in the build. */
function moduleOf(html: string): string {
  const imports: string[] = [];
  const pieces = html.split(new RegExp(`${IMAGE}(.*?)\u0000`)).map((piece, index) => {
    if (index % 2 === 0) return JSON.stringify(piece);
    const name = `image${imports.length}`;
    imports.push(`import ${name} from ${JSON.stringify(piece)};`);
    return name;
  });
  return `${imports.join("\n")}\nexport default ${pieces.join(" + ")};`;
}
