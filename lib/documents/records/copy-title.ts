import { TITLE_MAX_LENGTH } from "./body.ts";

/** Prefix of a copy's title, by language. Reference 3.4. */
const COPY_OF: Readonly<Record<string, string>> = {
  en: "Copy of",
  fr: "Copie de",
  de: "Kopie von",
  es: "Copia de",
  nl: "Kopie van",
  it: "Copia di",
  pt: "Cópia de",
};
const LANGUAGE = "en";
/** Maximum languages of a request that are considered. */
const ASKED_MAX = 20;

/**
 * Negotiates the language: the preferred one of Accept-Language (RFC 9110, 12.5.4), else the user's, else English.
 */
export function negotiateLanguage(accepted: string | undefined, own: string | null): string {
  const asked = (accepted ?? "").split(",", ASKED_MAX).map((part) => {
    const [tag = "", ...parameters] = part.trim().toLowerCase().split(";");
    const quality = parameters.map((one) => /^\s*q=([\d.]+)\s*$/.exec(one)?.[1]).find(Boolean);
    return { language: baseOf(tag), quality: quality === undefined ? 1 : Number(quality) };
  });
  const known = asked.filter(({ language, quality }) => Object.hasOwn(COPY_OF, language) && quality > 0);
  const [first] = known.toSorted((one, other) => other.quality - one.quality);
  if (first !== undefined) return first.language;
  const owns = baseOf(own?.toLowerCase() ?? "");
  return Object.hasOwn(COPY_OF, owns) ? owns : LANGUAGE;
}

/** `fr` of `fr-fr`. */
const baseOf = (tag: string): string => tag.trim().split(/[-_]/, 1)[0] ?? "";

/**
 * Returns the title of a copy, shortened to the maximum length. Documents without a title give copies without one.
 */
export function copyTitle(title: string | null, language: string): string | null {
  if (title === null || title === "") return title;
  const copied = `${COPY_OF[language] ?? COPY_OF[LANGUAGE]} ${title}`.slice(0, TITLE_MAX_LENGTH);
  // Do not cut a surrogate pair.
  return copied.replace(/[\uD800-\uDBFF]$/, "");
}
