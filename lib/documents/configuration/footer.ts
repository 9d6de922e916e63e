/** The footer where the theme file has none: what it is, and under which licence. Reference 7.2. */
export const BUILT_IN_FOOTER = {
  default: {
    externalLinks: [],
    legalLinks: [],
    bottomInformation: {
      label: "Made with Weft, free software under the",
      link: { label: "MIT licence", href: "https://opensource.org/license/mit" },
    },
  },
  de: {
    legalLinks: [],
    bottomInformation: {
      label: "Gemacht mit Weft, freier Software unter der",
      link: { label: "MIT-Lizenz", href: "https://opensource.org/license/mit" },
    },
  },
  fr: {
    legalLinks: [],
    bottomInformation: {
      label: "Propulsé par Weft, un logiciel libre sous",
      link: { label: "licence MIT", href: "https://opensource.org/license/mit" },
    },
  },
} as const;
