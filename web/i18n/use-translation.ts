import i18next, { type i18n, type TFunction } from "i18next";
import { useSyncExternalStore } from "react";

interface Translation {
  readonly t: TFunction;
  readonly i18n: i18n;
}

const listeners = new Set<() => void>();
let current: Translation | undefined;

i18next.on("languageChanged", () => {
  current = undefined;
  for (const listener of listeners) listener();
});

/** Another function for each language, so that what was made with it is made again. */
const translation = (): Translation => {
  current ??= { t: i18next.t.bind(i18next), i18n: i18next };
  return current;
};

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/**
 * The texts in the language of the interface, which `startTranslations` has loaded. The hook of react-i18next waits for
 * texts, and costs a subscription and several objects in each of the hundreds of components of a page.
 */
export const useTranslation = (): Translation => useSyncExternalStore(subscribe, translation);
