import { fieldsOf, imageOf, imageUrl, type ThemeImage } from "./theme-fields.ts";

export interface Logo extends ThemeImage {
  /** Whether the name of the product is beside it. */
  readonly hasName: boolean;
}

const NAME = "Weft";

/** The logo of the theme file, or the icon of its header. Undefined without one. */
export function logoOf(theme: unknown): Logo | undefined {
  const { logo, icon } = fieldsOf(fieldsOf(theme).header);
  const [image, symbol] = [imageOf(logo), imageOf(icon)];
  if (image !== undefined) return { ...image, alt: image.alt || NAME, hasName: false };
  if (symbol === undefined) return undefined;
  const hasName = fieldsOf(icon).withTitle === true;
  return { ...symbol, alt: symbol.alt || (hasName ? "" : NAME), hasName };
}

/** The symbol of the browser's tab in a color scheme. Undefined without one. */
export const faviconOf = (theme: unknown, scheme: "light" | "dark"): string | undefined =>
  imageUrl(fieldsOf(fieldsOf(fieldsOf(theme).favicon)[scheme]).href);
