import { mkdtempSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import type { NodeCompiler, NodeTypstDocument } from "@myriaddreamin/typst-ts-node-compiler";
import { imageSize, shownSize } from "./image-size.ts";
import type { Item, Node, Run } from "./nodes.ts";
import { PDF_TEMPLATE } from "./pdf-template.ts";
import type { Rendered, Rendering } from "./rendering.ts";
import { commentsTitle, languageOf } from "./texts.ts";

/** Width between the margins of a page, pixels at 96 per inch. */
const PAGE_WIDTH = 600;
/** Images with more pixels are not decoded. */
const PIXELS_MAX = 40_000_000;
const IMAGE_TYPES: Readonly<Record<string, string>> = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/gif": "gif",
  "image/webp": "webp",
};
/** Where operating systems have fonts: of all users, and of this one. */
const FONT_FOLDERS: Readonly<Record<string, readonly string[]>> = {
  linux: ["/usr/share/fonts", "/usr/local/share/fonts", join(homedir(), ".local/share/fonts")],
  darwin: ["/System/Library/Fonts", "/Library/Fonts", join(homedir(), "Library/Fonts")],
  win32: ["C:\\Windows\\Fonts", join(homedir(), "AppData\\Local\\Microsoft\\Windows\\Fonts")],
};
/** Where `npm run infra:fonts` puts fonts beside the bundle of a Lambda function. */
const BUNDLED_FONTS = join(import.meta.dirname, "fonts");
const ISSUES_MAX = 20;

/** Keeps the fonts, which take most of the time to load. */
let opened: { readonly compiler: NodeCompiler; readonly folder: string } | undefined;

/** A folder without files: the template can read nothing but what it is given. */
async function open(): Promise<NonNullable<typeof opened>> {
  if (opened !== undefined) return opened;
  const { NodeCompiler: Compiler } = await import("@myriaddreamin/typst-ts-node-compiler");
  const folder = mkdtempSync(join(tmpdir(), "weft-pdf-"));
  const fontPaths = [...(FONT_FOLDERS[process.platform] ?? []), BUNDLED_FONTS];
  opened = { compiler: Compiler.create({ workspace: folder, fontArgs: [{ fontPaths }] }), folder };
  return opened;
}

/** A tagged PDF with bookmarks. It conforms to PDF/UA-1 unless there are issues, such as a missing font. */
export async function writePdf(rendering: Rendering, given: readonly Node[]): Promise<Rendered> {
  const { compiler, folder } = await open();
  const { title, comments } = rendering;
  const [language = "en", region] = languageOf(rendering.language).split("-");
  const files: { readonly path: string; readonly bytes: Uint8Array }[] = [];
  const compile = (isWithImages: boolean): NodeTypstDocument | string => {
    const nodes = layoutNodes(given, isWithImages ? files : undefined);
    const data = {
      title: title === "" ? "–" : title,
      language: language.toLowerCase(),
      region: region ?? null,
      nodes,
      comments,
      "comments-title": commentsTitle(rendering.language),
    };
    compiler.mapShadow(join(folder, "document.json"), Buffer.from(JSON.stringify(data)));
    for (const { path, bytes } of files) compiler.mapShadow(join(folder, path), Buffer.from(bytes));
    const compiled = compiler.compile({ mainFileContent: PDF_TEMPLATE, resetRead: true });
    if (compiled.result !== null && !compiled.hasError()) return compiled.result;
    return messagesOf(compiled.takeDiagnostics()?.shortDiagnostics).join("; ");
  };
  try {
    let document = compile(true);
    const issues: string[] = [];
    // An image that cannot be read is shown by its description.
    if (typeof document === "string" && files.length > 0) {
      issues.push(document);
      document = compile(false);
    }
    if (typeof document === "string") throw new Error(`the PDF cannot be written: ${document}`);
    try {
      return { bytes: new Uint8Array(compiler.pdf(document, { pdfStandard: "ua-1" })), issues };
    } catch (error) {
      issues.push(...uaIssues(String((error as Error).message)));
      return { bytes: new Uint8Array(compiler.pdf(document)), issues: issues.slice(0, ISSUES_MAX) };
    }
  } finally {
    compiler.resetShadow();
    compiler.evictCache(0);
  }
}

const messagesOf = (diagnostics: readonly unknown[] | undefined): string[] =>
  (diagnostics ?? []).map((one) => String((one as { readonly message?: unknown }).message));

function uaIssues(message: string): string[] {
  const found = [...message.matchAll(/message: "((?:[^"\\]|\\.)*)"/g)].map(([, text = ""]) =>
    text.replaceAll('\\"', '"').replaceAll("\\\\", "\\"),
  );
  return [...new Set(found.length > 0 ? found : [message])];
}

/**
 * Nodes as the template takes them. Images become paths of `files`; without `files` they become text. Headings do not
 * skip levels, which PDF/UA-1 requires: the title is the first one.
 */
function layoutNodes(
  given: readonly Node[],
  files: { readonly path: string; readonly bytes: Uint8Array }[] | undefined,
): unknown[] {
  let level = 1;
  const each = (nodes: readonly Node[]): unknown[] => nodes.map(one);
  const one = (node: Node): unknown => {
    switch (node.kind) {
      case "heading":
        level = Math.min(node.level + 1, level + 1);
        return { ...node, level, runs: shown(node.runs) };
      case "paragraph":
      case "quote":
        return { ...node, runs: shown(node.runs) };
      case "callout":
        return { ...node, runs: shown(node.runs), nodes: each(node.nodes) };
      case "indented":
        return { ...node, nodes: each(node.nodes) };
      case "list":
        return {
          ...node,
          items: node.items.map((item: Item) => ({
            ...item,
            runs: shown(item.runs),
            nodes: each(item.nodes),
          })),
        };
      case "table":
        return {
          ...node,
          rows: node.rows.map((cells, row) =>
            cells.map((cell) => ({
              ...cell,
              runs: shown(cell.runs),
              // A cell does not reach from the header into the body.
              rowspan: row < node.headerRows ? Math.min(cell.rowspan, node.headerRows - row) : cell.rowspan,
            })),
          ),
        };
      case "image":
        return picture(node);
      default:
        return node;
    }
  };
  const picture = ({
    image: { type, bytes },
    alt,
    caption,
    width,
  }: Extract<Node, { kind: "image" }>): unknown => {
    const extension = IMAGE_TYPES[type];
    const size = imageSize(bytes);
    const isShown = extension !== undefined && size !== undefined && size.width * size.height <= PIXELS_MAX;
    if (files === undefined || !isShown)
      return { kind: "paragraph", align: "left", runs: [{ text: caption || alt, italic: true }] };
    const path = `image-${files.length}.${extension}`;
    files.push({ path, bytes });
    return { kind: "image", path, alt, caption, width: shownSize(bytes, width, PAGE_WIDTH).width };
  };
  return each(given);
}

const shown = (runs: readonly Run[]): Run[] => runs.filter(({ text }) => text !== "");
