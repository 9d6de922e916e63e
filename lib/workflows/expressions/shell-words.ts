const ANSI: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  a: "\x07",
  b: "\b",
  e: "\x1b",
  f: "\f",
  v: "\v",
};

/** Removes the quotes of a word; expansions stay as written. */
export function unquote(word: string): string {
  let text = "";
  for (let at = 0; at < word.length; ) {
    const char = word.charAt(at);
    if (char === "'") {
      const end = closing(word, at + 1, "'");
      text += word.slice(at + 1, end);
      at = end + 1;
    } else if (char === "$" && word[at + 1] === "'") {
      const end = closing(word, at + 2, "'", true);
      text += unescapeAnsi(word.slice(at + 2, end));
      at = end + 1;
    } else if (char === '"' || (char === "$" && word[at + 1] === '"')) {
      const start = at + (char === "$" ? 2 : 1);
      const end = closing(word, start, '"', true);
      text += word
        .slice(start, end)
        .replaceAll(/\\(\n|[$`"\\])/g, (_all, next: string) => (next === "\n" ? "" : next));
      at = end + 1;
    } else if (char === "\\") {
      if (word[at + 1] !== "\n") text += word.charAt(at + 1);
      at += 2;
    } else {
      text += char;
      at += 1;
    }
  }
  return text;
}

function closing(word: string, start: number, quote: string, escapes = false): number {
  for (let at = start; at < word.length; at += 1) {
    if (escapes && word[at] === "\\") at += 1;
    else if (word[at] === quote) return at;
  }
  return word.length;
}

function unescapeAnsi(text: string): string {
  return text.replaceAll(
    /\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|(.))/gs,
    (_all, two?: string, four?: string, eight?: string, octal?: string, other = "") => {
      const hex = two ?? four ?? eight;
      if (hex !== undefined) return String.fromCodePoint(Math.min(0x10ffff, Number.parseInt(hex, 16)));
      if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8) & 0xff);
      return ANSI[other] ?? other;
    },
  );
}

/** The text of a here-document with an unquoted delimiter. */
export function unescapeHeredoc(body: string): string {
  return body.replaceAll(/\\(\n|[$`\\])/g, (_all, next: string) => (next === "\n" ? "" : next));
}
