import { fieldsOf, linkOf, type ThemeLink, textOf } from "./theme-fields.ts";

export interface Footer {
  readonly links: readonly ThemeLink[];
  readonly note: string;
  readonly noteLink: ThemeLink | undefined;
}

const LINKS_MAX = 30;

const linksOf = (value: unknown): ThemeLink[] =>
  (Array.isArray(value) ? value.slice(0, LINKS_MAX) : []).map(linkOf).filter((link) => link !== undefined);

/**
 * The footer for a language; what it lacks is that of `default`. Undefined if the theme has none. The file is written by
 * people: what is not of the expected form is left out.
 */
export function footerOf(theme: unknown, language: string): Footer | undefined {
  const byLanguage = fieldsOf(fieldsOf(theme).footer);
  const fallback = fieldsOf(byLanguage.default);
  const footer = { ...fallback, ...fieldsOf(byLanguage[language]) };
  const { label, link } = fieldsOf(footer.bottomInformation);
  const links = [...linksOf(footer.externalLinks), ...linksOf(footer.legalLinks)];
  const [note, noteLink] = [textOf(label), linkOf(link)];
  return links.length === 0 && note === "" && noteLink === undefined ? undefined : { links, note, noteLink };
}
