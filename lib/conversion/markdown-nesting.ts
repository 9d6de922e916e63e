import { ContentError } from "./content-error.ts";

/** Parsing takes time that grows with the square of the depth, and each level a part of the stack. */
const LEVELS_MAX = 200;
const MARKER = /(?:>|(?:[-*+]|\d{1,9}[.)])(?=[ \t]|$))/y;
const TAB = 4;

/** Throws ContentError if lists and quotes of a Markdown text are nested too deeply to be parsed in time. */
export function checkNesting(text: string): void {
  /** Columns of the items around the current line. */
  const items: number[] = [];
  for (const line of lines(text)) {
    let column = 0;
    let quotes = 0;
    let isItem = false;
    for (let at = 0; at < line.length; ) {
      const character = line[at];
      if (character === " " || character === "\t") {
        column += character === " " ? 1 : TAB - (column % TAB);
        at += 1;
        continue;
      }
      MARKER.lastIndex = at;
      const marker = MARKER.exec(line)?.[0];
      if (marker === undefined) break;
      if (marker === ">") quotes += 1;
      else {
        // An item ends the items that do not begin before it, and a line without one those that begin after it.
        while (!isItem && (items.at(-1) ?? -1) >= column) items.pop();
        items.push(column);
        isItem = true;
      }
      if (items.length + quotes > LEVELS_MAX)
        throw new ContentError(`Lists and quotes are nested deeper than ${LEVELS_MAX} levels.`);
      column += marker.length;
      at += marker.length;
    }
    if (!isItem && line.trim() !== "") while ((items.at(-1) ?? -1) > column) items.pop();
  }
}

function* lines(text: string): Generator<string> {
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf("\n", start);
    yield text.slice(start, end === -1 ? text.length : end);
    start = end === -1 ? text.length : end + 1;
  }
}
