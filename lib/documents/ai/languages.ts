const names = new Intl.DisplayNames(["en"], { type: "language", fallback: "none" });

/** The English name of a language tag such as `fr` or `zh-hans`; undefined if there is no such language. */
export function languageName(code: string): string | undefined {
  try {
    return names.of(code);
  } catch {
    return undefined;
  }
}
