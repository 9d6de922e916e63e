/** Characters of a line that is shown; a longer line continues in the next one. */
const LINE_MAX_LENGTH = 400;
const CONTROL_PICTURES = 0x2400;
/** Control characters except the tab, and characters that change the direction of others. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is made visible
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

function visible(character: string): string {
  const code = character.charCodeAt(0);
  return code < 0x20
    ? String.fromCharCode(CONTROL_PICTURES + code)
    : `\\u${code.toString(16).padStart(4, "0")}`;
}

/** The lines of a text as they are shown: of limited length, and with visible control characters. */
export function textLines(text: string): string[] {
  const lines: string[] = [];
  for (const line of text.split(/\r?\n/)) {
    let from = 0;
    do {
      const end = from + LINE_MAX_LENGTH;
      const isSplit = /[\ud800-\udbff]/.test(line.charAt(end - 1));
      lines.push(line.slice(from, isSplit ? end + 1 : end).replace(UNSEEN, visible));
      from = isSplit ? end + 1 : end;
    } while (from < line.length);
  }
  return lines;
}
