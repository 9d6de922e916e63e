import { useTranslation } from "../i18n/use-translation.ts";
import { showToast } from "./toasts.tsx";

/** Puts a text into the clipboard. Resolves with whether the browser allowed it. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

/** Returns a function that puts a text into the clipboard, and says whether the browser allowed it. */
export function useCopy(): (text: string) => Promise<void> {
  const { t } = useTranslation();
  return async (text) => showToast(t((await copyText(text)) ? "copy.text_copied" : "copy.refused"));
}

/** For pages without https, where browsers have no clipboard. */
function copyBySelection(text: string): boolean {
  const before = document.activeElement;
  const field = document.createElement("textarea");
  field.value = text;
  field.readOnly = true;
  // Not outside of the window, where its selection would scroll the page.
  field.style.position = "fixed";
  field.style.opacity = "0";
  document.body.append(field);
  field.select();
  // Deprecated, and the only way in a page without https.
  const isCopied = document.execCommand("copy");
  field.remove();
  if (before instanceof HTMLElement) before.focus({ preventScroll: true });
  return isCopied;
}
