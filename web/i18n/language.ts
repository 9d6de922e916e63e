/** Languages of the interface, each with its own name. */
export const LANGUAGES = { en: "English", fr: "Français" } as const;
export type Language = keyof typeof LANGUAGES;

const STORAGE_KEY = "weft.language";

export const isLanguage = (name: string): name is Language => Object.hasOwn(LANGUAGES, name);

export const hasChosenLanguage = (): boolean => localStorage.getItem(STORAGE_KEY) !== null;

/** The language that the user chose on this device, otherwise the browser's first one that exists. */
export function preferredLanguage(): Language {
  const names = [localStorage.getItem(STORAGE_KEY) ?? "", ...navigator.languages];
  return names.map((name) => name.slice(0, 2)).find(isLanguage) ?? "en";
}

export const rememberLanguage = (language: Language): void => localStorage.setItem(STORAGE_KEY, language);
