import { escapeHtml } from "../escape-html.ts";
import type { Alignment, Cell, Item, Node, Run } from "./nodes.ts";
import type { RenderedComment, RenderedImage, Rendering } from "./rendering.ts";
import { commentsTitle, languageOf } from "./texts.ts";

const attribute = (name: string, value: string | number | undefined): string =>
  value === undefined ? "" : ` ${name}="${escapeHtml(String(value))}"`;

/** Images that every browser shows, and that contain no script. */
const SHOWN_IMAGES: ReadonlySet<string> = new Set([
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
  "image/avif",
  "image/bmp",
]);

const STYLE = `body{font-family:system-ui,sans-serif;line-height:1.5;max-width:48rem;margin:2rem auto;padding:0 1rem;overflow-wrap:break-word}
img{max-width:100%;height:auto}
table{border-collapse:collapse}
th,td{border:1px solid #767676;padding:.25rem .5rem;text-align:start;vertical-align:top}
blockquote{border-inline-start:.25rem solid #767676;margin-inline-start:0;padding-inline-start:1rem}
pre{background:#f3f3f3;padding:.75rem;white-space:pre-wrap}
aside{background:#f3f3f3;padding:.75rem;border-radius:.25rem}
li>p{margin:0}
ul.check{list-style:none;padding-inline-start:1.5rem}
.indented{margin-inline-start:1.5rem}
.page-break{break-after:page;border:0}
figure{margin-inline:0}`;

/** One file without scripts and without references to other files: images are in it. */
export function writeHtml(rendering: Rendering, nodes: readonly Node[]): string {
  const { title, language, comments } = rendering;
  return `<!DOCTYPE html>
<html lang="${escapeHtml(languageOf(language))}" dir="auto">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<meta name="generator" content="Weft">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${escapeHtml(title)}</h1>
${nodes.map(block).join("\n")}
${appendix(comments, language)}</main>
</body>
</html>
`;
}

function block(node: Node): string {
  switch (node.kind) {
    case "heading": {
      // The title of the document is the only heading of the first level.
      const tag = `h${Math.min(6, node.level + 1)}`;
      return `<${tag}${aligned(node.align)}>${inline(node.runs)}</${tag}>`;
    }
    case "paragraph":
      return `<p${aligned(node.align)}>${inline(node.runs)}</p>`;
    case "quote":
      return `<blockquote><p${aligned(node.align)}>${inline(node.runs)}</p></blockquote>`;
    case "callout": {
      const emoji = node.emoji === "" ? "" : `<span aria-hidden="true">${escapeHtml(node.emoji)}</span> `;
      return `<aside role="note"><p${aligned(node.align)}>${emoji}${inline(node.runs)}</p>${node.nodes.map(block).join("\n")}</aside>`;
    }
    case "list":
      return list(node);
    case "code":
      return `<pre${attribute("data-language", node.language || undefined)} tabindex="0"><code>${escapeHtml(node.text)}</code></pre>`;
    case "table":
      return table(node);
    case "image":
      return image(node);
    case "file": {
      const caption = node.caption === "" ? "" : ` – ${escapeHtml(node.caption)}`;
      return `<p>${anchor(node.href, escapeHtml(node.name))}${caption}</p>`;
    }
    case "indented":
      return `<div class="indented">\n${node.nodes.map(block).join("\n")}\n</div>`;
    case "divider":
      return "<hr>";
    case "pageBreak":
      return '<hr class="page-break">';
    default:
      return node satisfies never;
  }
}

function list({ type, start, items }: Extract<Node, { kind: "list" }>): string {
  const tag = type === "numbered" ? "ol" : "ul";
  const more =
    type === "check" ? ' class="check"' : type === "numbered" && start > 1 ? ` start="${start}"` : "";
  return `<${tag}${more}>\n${items.map(item).join("\n")}\n</${tag}>`;
}

function item({ isChecked, runs, align, nodes }: Item): string {
  const text = inline(runs);
  // The label names the checkbox for screen readers.
  const shown =
    isChecked === undefined
      ? text
      : `<label><input type="checkbox" disabled${isChecked ? " checked" : ""}> ${text}</label>`;
  // The items and blocks below it have their own alignment.
  const own = align === "left" ? shown : `<p${aligned(align)}>${shown}</p>`;
  return `<li>${own}${nodes.length === 0 ? "" : `\n${nodes.map(block).join("\n")}\n`}</li>`;
}

function table({ headerRows, rows }: Extract<Node, { kind: "table" }>): string {
  const written = rows.map(
    (cells, row) => `<tr>${cells.map((one) => cell(one, row < headerRows)).join("")}</tr>`,
  );
  const head = written.slice(0, headerRows);
  const body = written.slice(headerRows);
  return [
    "<table>",
    ...(head.length > 0 ? [`<thead>${head.join("")}</thead>`] : []),
    ...(body.length > 0 ? [`<tbody>${body.join("")}</tbody>`] : []),
    "</table>",
  ].join("\n");
}

function cell({ runs, isHeader, colspan, rowspan, background, align }: Cell, isInHead: boolean): string {
  const tag = isHeader ? "th" : "td";
  const scope = isHeader ? attribute("scope", isInHead ? "col" : "row") : "";
  const spans = `${attribute("colspan", colspan > 1 ? colspan : undefined)}${attribute("rowspan", rowspan > 1 ? rowspan : undefined)}`;
  const styles = [
    ...(background === undefined ? [] : [`background:${background}`]),
    ...(align === "left" ? [] : [`text-align:${align}`]),
  ].join(";");
  return `<${tag}${scope}${spans}${attribute("style", styles || undefined)}>${inline(runs)}</${tag}>`;
}

function image({ image: { type, bytes }, alt, caption, width }: Extract<Node, { kind: "image" }>): string {
  const shown = `<img src="${dataUrl({ type, bytes })}"${attribute("alt", alt)}${attribute("width", width && Math.round(width))}>`;
  if (caption === "") return `<p>${shown}</p>`;
  return `<figure>${shown}<figcaption>${escapeHtml(caption)}</figcaption></figure>`;
}

/** Whether an image may be written into a file as it is. */
export const isShownImage = ({ type }: Pick<RenderedImage, "type">): boolean => SHOWN_IMAGES.has(type);

const dataUrl = ({ type, bytes }: RenderedImage): string =>
  `data:${SHOWN_IMAGES.has(type) ? type : "application/octet-stream"};base64,${Buffer.from(bytes).toString("base64")}`;

const TAGS = [
  ["bold", "strong"],
  ["italic", "em"],
  ["underline", "u"],
  ["strike", "s"],
  ["code", "code"],
] as const satisfies readonly (readonly [keyof Run, string])[];

function inline(runs: readonly Run[]): string {
  let written = "";
  for (let at = 0; at < runs.length; ) {
    const { href } = runs[at] as Run;
    const end = runs.findIndex((one, nth) => nth > at && one.href !== href);
    const same = runs.slice(at, end < 0 ? runs.length : end);
    const text = same.map(run).join("");
    written += href === undefined ? text : anchor(href, text);
    at += same.length;
  }
  return written;
}

const anchor = (href: string, text: string): string =>
  `<a${attribute("href", href)} rel="noopener noreferrer">${text}</a>`;

function run({ text, color, background, ...flags }: Run): string {
  let written = escapeHtml(text).replaceAll("\n", "<br>");
  for (const [name, tag] of TAGS) if (flags[name]) written = `<${tag}>${written}</${tag}>`;
  const styles = [
    ...(color === undefined ? [] : [`color:${color}`]),
    ...(background === undefined ? [] : [`background:${background}`]),
  ].join(";");
  return styles === "" ? written : `<span style="${styles}">${written}</span>`;
}

const aligned = (align: Alignment): string => (align === "left" ? "" : ` style="text-align:${align}"`);

function appendix(comments: readonly RenderedComment[], language: string): string {
  if (comments.length === 0) return "";
  const items = comments.map(
    ({ author, at, text, isFirst, isResolved }) =>
      `<article${isFirst ? "" : ' class="indented"'}><h3>${escapeHtml(author)}${isResolved ? " ✓" : ""}</h3><p><time datetime="${escapeHtml(at)}">${escapeHtml(at)}</time></p><p>${escapeHtml(text).replaceAll("\n", "<br>")}</p></article>`,
  );
  return `<section>\n<h2>${escapeHtml(commentsTitle(language))}</h2>\n${items.join("\n")}\n</section>\n`;
}
