import { escapeHtml } from "../../escape-html.ts";
import { htmlPage } from "../html-page.ts";
import { fillIn } from "../mail/email-layout.ts";
import { resolveEmailLanguage } from "../mail/email-templates.ts";
import type { NotificationKind } from "../tables/notifications.ts";
import { UNSUBSCRIBE_TEXTS } from "./unsubscribe-texts.ts";

function wordingOf(language: string | null, kinds: readonly NotificationKind[]) {
  const resolved = resolveEmailLanguage(language);
  const texts = UNSUBSCRIBE_TEXTS[resolved];
  const names = kinds.map((kind) => texts.kinds[kind]);
  const list = new Intl.ListFormat(resolved, { type: "conjunction" }).format(names);
  return { language: resolved, texts, say: (text: string) => escapeHtml(fillIn(text, { kinds: list })) };
}

/** Asks before anything changes: programs open links in emails to check them. */
export function askToUnsubscribePage(language: string | null, kinds: readonly NotificationKind[]): string {
  const { texts, say, language: of } = wordingOf(language, kinds);
  // Without an action, the form is sent to the address of the page, which contains the token.
  const form = `<p>${say(texts.question)}</p>\n<form method="post"><button>${say(texts.button)}</button></form>`;
  return htmlPage(say(texts.ask), form, of);
}

export function unsubscribedPage(language: string | null, kinds: readonly NotificationKind[]): string {
  const { texts, say, language: of } = wordingOf(language, kinds);
  return htmlPage(say(texts.done), `<p>${say(texts.result)}</p>`, of);
}

/** The user, and so the language, is unknown. */
export const INVALID_UNSUBSCRIBE_PAGE = htmlPage(
  "This link is not valid",
  "<p>Copy the whole link from the email, or change your notification settings.</p>",
);
