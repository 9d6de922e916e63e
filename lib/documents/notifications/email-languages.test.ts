import { expect, it } from "vitest";
import { resolveEmailLanguage } from "../mail/email-templates.ts";
import { EMAIL_TEXTS } from "../mail/email-texts.ts";
import { DIGEST_TEXTS } from "./digest-texts.ts";
import { UNSUBSCRIBE_TEXTS } from "./unsubscribe-texts.ts";

const TABLES = { EMAIL_TEXTS, DIGEST_TEXTS, UNSUBSCRIBE_TEXTS };
const LANGUAGES = ["de", "en", "es", "fr", "it", "nl"];

/** Path of each text, with its placeholders; a missing or empty text has none. */
function placeholders(texts: object, path = ""): Record<string, readonly string[]> {
  return Object.assign(
    {},
    ...Object.entries(texts).map(([key, value]: [string, unknown]) => {
      const here = `${path}.${key}`;
      if (typeof value === "object" && value !== null) return placeholders(value, here);
      if (typeof value !== "string" || value.trim() === "") return {};
      return { [here]: [...value.matchAll(/\{\w+\}/g)].map(([name]) => name).sort() };
    }),
  ) as Record<string, readonly string[]>;
}

it.each(Object.entries(TABLES))("%s has every text in every language, with its values", (_, table) => {
  expect(Object.keys(table).sort()).toEqual(LANGUAGES);
  for (const texts of Object.values(table)) expect(placeholders(texts)).toEqual(placeholders(table.en));
});

it("selects the language of the recipient, and English for others", () => {
  expect(
    ["de-de", "es_ES", "fr-fr", "IT", "nl-nl", "en-us", "pt-br", "", null].map(resolveEmailLanguage),
  ).toEqual(["de", "es", "fr", "it", "nl", "en", "en", "en", "en"]);
});
