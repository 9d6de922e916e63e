import { escapeHtml } from "../escape-html.ts";
import { htmlPage } from "../html-page.ts";
import { fillIn } from "../mail/email-layout.ts";
import { type EmailLanguage, resolveEmailLanguage } from "../mail/email-templates.ts";
import type { NotificationKind } from "../tables/notifications.ts";

interface PageTexts {
  readonly kinds: Readonly<Record<NotificationKind, string>>;
  readonly ask: string;
  readonly question: string;
  readonly button: string;
  readonly done: string;
  readonly result: string;
}

const TEXTS: Readonly<Record<EmailLanguage, PageTexts>> = {
  en: {
    kinds: {
      comment: "new threads",
      reply: "replies",
      mention: "mentions",
      share: "shared documents",
      access_request: "access requests",
      failed_run: "failed runs",
    },
    ask: "Unsubscribe",
    question: "Do you no longer want to receive emails about {kinds}?",
    button: "Unsubscribe",
    done: "You are unsubscribed",
    result:
      "You receive no more emails about {kinds}. You can turn them on again in your notification settings.",
  },
  fr: {
    kinds: {
      comment: "les nouveaux commentaires",
      reply: "les réponses",
      mention: "les mentions",
      share: "les documents partagés",
      access_request: "les demandes d’accès",
      failed_run: "les exécutions échouées",
    },
    ask: "Désabonnement",
    question: "Ne plus recevoir d’e-mails concernant {kinds} ?",
    button: "Se désabonner",
    done: "Vous êtes désabonné",
    result:
      "Vous ne recevrez plus d’e-mails concernant {kinds}. Vous pouvez les réactiver dans vos paramètres de notification.",
  },
};

function wordingOf(language: string | null, kinds: readonly NotificationKind[]) {
  const resolved = resolveEmailLanguage(language);
  const texts = TEXTS[resolved];
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
