import { expect, it } from "vitest";
import { footerOf } from "./footer-of-theme.ts";

const link = (label: string, href: string) => ({ label, href });

it("is that of the language, and of the default for what that lacks", () => {
  const footer = {
    default: {
      externalLinks: [link("Home", "https://example.org")],
      legalLinks: [link("Legal", "/legal")],
      bottomInformation: { label: "Made", link: link("here", "https://example.org/here") },
    },
    fr: { legalLinks: [link("Mentions", "/mentions")] },
  };
  expect(footerOf({ footer }, "fr")).toEqual({
    links: [link("Home", "https://example.org"), link("Mentions", "/mentions")],
    note: "Made",
    noteLink: link("here", "https://example.org/here"),
  });
  expect(footerOf({ footer }, "en")?.links).toHaveLength(2);
});

it("leaves out what is no link, and has none without a footer", () => {
  const legalLinks = [link("x", "javascript:alert(1)"), { label: 1, href: {} }, null, link("", "/a")];
  expect(footerOf({ footer: { default: { legalLinks } } }, "en")).toBeUndefined();
  for (const theme of [undefined, {}, { footer: "text" }, { footer: { default: [] } }])
    expect(footerOf(theme, "en")).toBeUndefined();
});
