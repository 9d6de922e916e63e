import type { Heredoc } from "./shell-context.ts";

const BLANKS = /[ \t]*/y;
const DELIMITER = /(?:\\.|'[^']*'|"[^"]*"|[^\s;&|<>()'"\\])+/sy;

/** Reads the delimiter after `<<`: its end, and the position of a hole in it. */
export function readDelimiter(
  source: string,
  start: number,
  holeMark: string,
): { heredoc?: Heredoc; end: number; hole?: number } {
  const stripTabs = source[start] === "-";
  BLANKS.lastIndex = stripTabs ? start + 1 : start;
  BLANKS.test(source);
  const from = BLANKS.lastIndex;
  DELIMITER.lastIndex = from;
  const word = DELIMITER.exec(source)?.[0];
  if (word === undefined) return { end: from };
  const end = from + word.length;
  const hole = word.indexOf(holeMark);
  if (hole !== -1) return { end, hole: from + hole };
  const quoted = /['"\\]/.test(word);
  const delimiter = quoted ? word.replace(/\\(.)|['"]/gs, "$1") : word;
  return { heredoc: { delimiter, written: { start: from, end }, quoted, stripTabs }, end };
}

/**
 * Finds the end of a here-document's body that begins at `start`, and the position after its last line. In a `$(…)`
 * the last line may also contain the closing parenthesis.
 */
export function readHeredocBody(
  source: string,
  start: number,
  heredoc: Heredoc,
  nested: boolean,
): { end: number; after: number; terminated: boolean } {
  const { delimiter, stripTabs } = heredoc;
  for (let line = start; line < source.length; ) {
    let text = line;
    if (stripTabs) while (source[text] === "\t") text += 1;
    const newline = source.indexOf("\n", line);
    const lineEnd = newline === -1 ? source.length : newline;
    if (source.startsWith(delimiter, text)) {
      const after = text + delimiter.length;
      if (after === lineEnd || (nested && source[after] === ")"))
        return { end: line, after, terminated: true };
    }
    line = lineEnd + 1;
  }
  return { end: source.length, after: source.length, terminated: false };
}
