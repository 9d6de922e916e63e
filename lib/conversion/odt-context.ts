import { escapeHtml } from "../escape-html.ts";

/** The HTML of what contains blocks: of the document, a cell, a text box or a note. */
export interface Context {
  html: string;
  /** Lines of a block of code that may continue. */
  code: string[];
  readonly lists: List[];
}

export interface List {
  readonly style: string | undefined;
  readonly isOrdered: boolean;
  start: number;
  isOpen: boolean;
  hasItem: boolean;
  isUsed: boolean;
}

export const newContext = (): Context => ({ html: "", code: [], lists: [] });

/** Tags of a list are written with its first text: headings may be items, and stay headings. */
export function openList(context: Context, list: List): void {
  if (!list.isOpen) context.html += list.isOrdered ? `<ol start="${list.start}">` : "<ul>";
  list.isOpen = true;
  if (list.hasItem) return;
  context.html += "<li>";
  list.hasItem = true;
  list.isUsed = true;
  list.start += 1;
}

/** Ends a list. Another block of the same list opens it again, with the next number. */
export function closeList(context: Context, list: List): void {
  flushCode(context);
  if (list.hasItem) context.html += "</li>";
  if (list.isOpen) context.html += list.isOrdered ? "</ol>" : "</ul>";
  list.isOpen = false;
  list.hasItem = false;
}

/** Ends all lists, from the innermost one. */
export function closeLists(context: Context): void {
  flushCode(context);
  for (const list of context.lists.toReversed()) closeList(context, list);
}

/** Writes the lines of code that were read as one block. */
export function flushCode(context: Context): void {
  const { code } = context;
  if (code.length === 0) return;
  context.code = [];
  if (code.some((line) => line.trim() !== "")) context.html += codeBlock(code.join("\n"));
}

/** A block of code; spaces at the ends of lines are those of the XML. */
export const codeBlock = (text: string): string =>
  `<pre><code>${escapeHtml(text.replaceAll(/ +\n/g, "\n"))}</code></pre>`;
