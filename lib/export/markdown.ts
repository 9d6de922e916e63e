import type { Cell, Item, Node, Run } from "./nodes.ts";
import type { RenderedComment, Rendering } from "./rendering.ts";
import { commentsTitle } from "./texts.ts";

/** GitHub Flavored Markdown for readers. What Markdown cannot express is written as what comes closest. */
export function writeMarkdown({ title, language, comments }: Rendering, nodes: readonly Node[]): string {
  return `${[`# ${text(title)}`, ...blocks(nodes), ...appendix(comments, language)].join("\n\n")}\n`;
}

const blocks = (nodes: readonly Node[]): string[] => nodes.flatMap(block).filter((one) => one !== "");

function block(node: Node): string[] {
  switch (node.kind) {
    case "heading":
      // The title of the document is the only heading of the first level.
      return [`${"#".repeat(Math.min(6, node.level + 1))} ${oneLine(inline(node.runs))}`];
    case "paragraph":
      return [firstSafe(inline(node.runs))];
    case "quote":
      return [quoted(firstSafe(inline(node.runs)))];
    case "callout": {
      const marked = node.emoji === "" ? inline(node.runs) : `${text(node.emoji)} ${inline(node.runs)}`;
      return [quoted([firstSafe(marked), ...blocks(node.nodes)].join("\n\n"))];
    }
    case "list":
      return [list(node)];
    case "code": {
      const fence = "`".repeat(Math.max(3, longestRun(node.text) + 1));
      return [`${fence}${node.language.replace(/[^\w+#.-]/g, "")}\n${node.text}\n${fence}`];
    }
    case "table":
      return [table(node)];
    case "image":
      // One file has no place for the bytes.
      return [text(node.caption || node.alt)];
    case "file":
      return [
        `${node.isImage ? "!" : ""}[${oneLine(text(node.name))}](${target(node.href)})${node.caption === "" ? "" : ` – ${text(node.caption)}`}`,
      ];
    case "indented":
      return blocks(node.nodes);
    case "divider":
    case "pageBreak":
      return ["---"];
    default:
      return node satisfies never;
  }
}

function list({ type, start, items }: Extract<Node, { kind: "list" }>): string {
  return items.map((one, at) => item(one, type === "numbered" ? `${start + at}. ` : "- ")).join("\n");
}

function item({ isChecked, runs, nodes }: Item, marker: string): string {
  const box = isChecked === undefined ? "" : isChecked ? "[x] " : "[ ] ";
  const own = `${marker}${box}${firstSafe(inline(runs))}`;
  const below = blocks(nodes).map((one, at) => (at === 0 && nodes[0]?.kind === "list" ? one : `\n${one}`));
  return [own, ...below].join("\n").replaceAll(/\n(?!\n)/g, `\n${" ".repeat(marker.length)}`);
}

function table({ columns, headerRows, rows }: Extract<Node, { kind: "table" }>): string {
  const lines = rows.map((cells) => row(cells, columns));
  const separator = `|${" --- |".repeat(columns)}`;
  const [first = "", ...others] = headerRows > 0 ? lines : [`|${"  |".repeat(columns)}`, ...lines];
  return [first, separator, ...others].join("\n");
}

function row(cells: readonly Cell[], columns: number): string {
  const texts = cells.flatMap(({ runs, colspan }) => [
    inline(runs).replaceAll("\\\n", "<br>").replaceAll("\n", " "),
    ...Array.from({ length: Math.min(colspan, columns) - 1 }, () => ""),
  ]);
  while (texts.length < columns) texts.push("");
  return `| ${texts.slice(0, columns).join(" | ")} |`;
}

const quoted = (inner: string): string =>
  inner
    .split("\n")
    .map((line) => (line === "" ? ">" : `> ${line}`))
    .join("\n");
const oneLine = (given: string): string => given.replaceAll(/\\?\n/g, " ");
const longestRun = (given: string): number =>
  Math.max(0, ...[...given.matchAll(/`+/g)].slice(0, 10_000).map(([ticks]) => ticks.length));

/** Makes characters literal that Markdown or HTML would interpret. */
const text = (given: string): string =>
  given
    .replace(/[\\`*_[\]~|]/g, "\\$&")
    .replace(/&(?=#?\w+;)/g, "&amp;")
    .replaceAll("<", "&lt;");

/** Escapes what Markdown interprets only at the start of a line. */
const firstSafe = (given: string): string =>
  given.replace(
    /^(\s*)(#{1,6}(?=\s|$)|[-+>](?=\s|$|[->])|=+\s*$|(\d{1,9})(?=[.)]))/gm,
    (_, space: string, mark: string) => (/^\d/.test(mark) ? `${space}${mark}\\` : `${space}\\${mark}`),
  );

const target = (href: string): string =>
  href.replace(/[\s<>"()\\]/g, (one) => `%${one.charCodeAt(0).toString(16).padStart(2, "0").toUpperCase()}`);

const MARKS = [
  ["strike", "~~"],
  ["italic", "*"],
  ["bold", "**"],
] as const satisfies readonly (readonly [keyof Run, string])[];

const inline = (runs: readonly Run[]): string => runs.map(run).join("");

function run(given: Run): string {
  const [, before = "", inner = "", after = ""] = /^(\s*)([\s\S]*?)(\s*)$/.exec(given.text) ?? [];
  if (inner === "") return given.text.replaceAll("\n", "\\\n");
  let written: string;
  if (given.code === true) {
    const ticks = "`".repeat(longestRun(inner) + 1);
    const gap = /^`|`$/.test(inner) ? " " : "";
    written = `${ticks}${gap}${inner.replaceAll("\n", " ")}${gap}${ticks}`;
  } else written = text(inner).replaceAll("\n", "\\\n");
  // Emphasis does not begin or end with white space.
  for (const [name, mark] of MARKS) if (given[name] === true) written = `${mark}${written}${mark}`;
  if (given.href !== undefined) written = `[${written}](${target(given.href)})`;
  return `${before.replaceAll("\n", "\\\n")}${written}${after.replaceAll("\n", "\\\n")}`;
}

function appendix(comments: readonly RenderedComment[], language: string): string[] {
  if (comments.length === 0) return [];
  const written = comments.map(({ author, at, text: said, isFirst, isResolved }) => {
    const one = `**${text(author)}** ${at}${isResolved ? " ✓" : ""}\n\n${firstSafe(text(said).replaceAll("\n", "\\\n"))}`;
    return isFirst ? one : quoted(one);
  });
  return [`## ${commentsTitle(language)}`, ...written];
}
