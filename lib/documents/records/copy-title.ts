import { TITLE_MAX_LENGTH } from "./body.ts";

/** What the title of a copy says, a language each. Reference 3.4. */
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
/** Languages of a request that are looked at. */
const ASKED_MAX = 20;

/**
 * The language to answer in, of those that are known: what the request accepts first (RFC 9110, 12.5.4), else the one of
 * the user, else English.
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

/** Title of a copy, as long as a title may be; what has none has none as a copy. */
export function copyTitle(title: string | null, language: string): string | null {
  if (title === null || title === "") return title;
  const copied = `${COPY_OF[language] ?? COPY_OF[LANGUAGE]} ${title}`.slice(0, TITLE_MAX_LENGTH);
  // Of a character that is two units, not the half.
  return copied.replace(/[\uD800-\uDBFF]$/, "");
}
