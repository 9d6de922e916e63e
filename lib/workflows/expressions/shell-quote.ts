const NEEDS_NO_QUOTES = /^[\w@%+=:,./-]+$/;

/** One word of POSIX shell that stands for exactly this text, whatever is in it (but NUL). */
export function shellQuote(text: string): string {
  return NEEDS_NO_QUOTES.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
