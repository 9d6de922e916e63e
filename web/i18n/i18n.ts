import i18next from "i18next";
import shell from "./en/shell.json";
import {
  hasChosenLanguage,
  isLanguage,
  type Language,
  preferredLanguage,
  rememberLanguage,
} from "./language.ts";
import { readTexts } from "./read-texts.ts";
import type { TextGroup, Texts } from "./texts.ts";

const NAMESPACE = "translation";

declare module "i18next" {
  interface CustomTypeOptions {
    resources: { translation: Texts };
  }
}

const loadedGroups = new Set<TextGroup>(["shell"]);

/** Shows the interface in a language, and remembers it on this device. */
export async function setLanguage(language: Language): Promise<void> {
  await loadLanguage(language);
  rememberLanguage(language);
}

/** Shows the interface in the language of the user's account, unless one was chosen on this device. */
export async function adoptLanguage(code: string): Promise<void> {
  const language = code.slice(0, 2);
  if (hasChosenLanguage() || !isLanguage(language)) return;
  if (language !== i18next.language) await loadLanguage(language);
}

/** Must resolve before a text of the groups is shown. */
export async function loadTexts(groups: readonly TextGroup[]): Promise<void> {
  for (const group of groups) loadedGroups.add(group);
  await Promise.all(groups.map((group) => loadGroup(i18next.language, group)));
}

async function loadLanguage(language: Language): Promise<void> {
  await Promise.all([...loadedGroups].map((group) => loadGroup(language, group)));
  await i18next.changeLanguage(language);
  document.documentElement.lang = language;
}

async function loadGroup(language: string, group: TextGroup): Promise<void> {
  const texts = await readTexts(language, group);
  if (texts !== undefined) i18next.addResourceBundle(language, NAMESPACE, texts, true, true);
}

/** Must resolve before the first text is shown. */
export async function startTranslations(): Promise<void> {
  await i18next.init({
    resources: { en: { [NAMESPACE]: shell } },
    lng: "en",
    fallbackLng: "en",
    // React escapes texts.
    interpolation: { escapeValue: false },
  });
  await loadLanguage(preferredLanguage());
}
