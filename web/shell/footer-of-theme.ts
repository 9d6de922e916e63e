export interface FooterLink {
  readonly label: string;
  readonly href: string;
}

export interface Footer {
  readonly links: readonly FooterLink[];
  readonly note: string;
  readonly noteLink: FooterLink | undefined;
}

const LINKS_MAX = 30;
const PROTOCOLS = new Set(["http:", "https:", "mailto:"]);

type Fields = Readonly<Record<string, unknown>>;

const fieldsOf = (value: unknown): Fields =>
  typeof value === "object" && value !== null ? (value as Fields) : {};
const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** A link of the theme file; undefined if it is missing or leads to a script. */
function linkOf(value: unknown): FooterLink | undefined {
  const { label, href } = fieldsOf(value);
  const [name, address] = [textOf(label), textOf(href)];
  const url = URL.parse(address, "https://weft.invalid");
  return name !== "" && address !== "" && url !== null && PROTOCOLS.has(url.protocol)
    ? { label: name, href: address }
    : undefined;
}

const linksOf = (value: unknown): FooterLink[] =>
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
