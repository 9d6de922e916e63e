import { parseUrl } from "../api/parse-url.ts";

/* Values of the theme file, which people write: what is not of the expected form is left out. */

export interface ThemeLink {
  readonly label: string;
  readonly href: string;
}

export interface ThemeImage {
  readonly src: string;
  readonly alt: string;
}

const LINK_PROTOCOLS = new Set(["http:", "https:", "mailto:"]);

type Fields = Readonly<Record<string, unknown>>;

export const fieldsOf = (value: unknown): Fields =>
  typeof value === "object" && value !== null ? (value as Fields) : {};
export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** The address of a link; undefined if it is missing or leads to a script. */
export function hrefOf(value: unknown): string | undefined {
  const address = textOf(value);
  const url = parseUrl(address, "https://weft.invalid");
  return address !== "" && url !== undefined && LINK_PROTOCOLS.has(url.protocol) ? address : undefined;
}

/** A link of the theme file; undefined without a label or an address. */
export function linkOf(value: unknown): ThemeLink | undefined {
  const { label, href } = fieldsOf(value);
  const [name, address] = [textOf(label), hrefOf(href)];
  return name !== "" && address !== undefined ? { label: name, href: address } : undefined;
}

/** The address of a file that the policy of the page allows: of this server. Undefined for others. */
export function ownUrl(value: unknown): string | undefined {
  const address = textOf(value);
  const url = parseUrl(address, location.origin);
  return address !== "" && url?.origin === location.origin ? url.href : undefined;
}

/** The address of an image of this server, or one that is in the theme file itself. Undefined for others. */
export const imageUrl = (value: unknown): string | undefined =>
  textOf(value).startsWith("data:image/") ? textOf(value) : ownUrl(value);

/** An image of the theme file; undefined if the policy of the page does not allow its address. */
export function imageOf(value: unknown): ThemeImage | undefined {
  const { src, alt } = fieldsOf(value);
  const url = imageUrl(src);
  return url === undefined ? undefined : { src: url, alt: textOf(alt) };
}
