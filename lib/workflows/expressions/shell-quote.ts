const NEEDS_NO_QUOTES = /^[\w@%+=:,./-]+$/;

/** Quotes a text as one word of POSIX shell; any character except NUL is allowed. */
export function shellQuote(text: string): string {
  return NEEDS_NO_QUOTES.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
