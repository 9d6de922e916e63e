import { fieldsOf, hrefOf, textOf } from "./theme-fields.ts";

const LEGAL = ["personal_data", "terms_of_use", "accessibility_statement", "legal_notice"] as const;

export interface HelpLink {
  readonly name: "documentation" | "support" | (typeof LEGAL)[number];
  readonly href: string;
}

/** The links of the theme file for the menu of the help, in its order. */
export function helpLinksOf(theme: unknown): readonly HelpLink[] {
  const { documentation_url, support_mailto, legal_links } = fieldsOf(fieldsOf(theme).help);
  const address = textOf(support_mailto);
  const support = address === "" || address.startsWith("mailto:") ? address : `mailto:${address}`;
  const legal = fieldsOf(legal_links);
  const links: readonly (readonly [HelpLink["name"], unknown])[] = [
    ["documentation", documentation_url],
    ["support", support],
    ...LEGAL.map((name) => [name, legal[name]] as const),
  ];
  return links.flatMap(([name, value]) => {
    const href = hrefOf(value);
    return href === undefined ? [] : [{ name, href }];
  });
}
