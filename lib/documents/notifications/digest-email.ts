import type { Letterhead } from "../../mail/mail.ts";
import { type EmailContent, fillIn, layOutEmail, oneLine, type RenderedEmail } from "../mail/email-layout.ts";
import { type EmailLanguage, resolveEmailLanguage } from "../mail/email-templates.ts";
import type { NotificationKind } from "../tables/notifications.ts";
import type { NotificationRecord } from "./list.ts";

/** Maximum notifications that an email quotes. */
const QUOTED_MAX = 20;
const EXCERPT_MAX = 320;

/** Kinds that are sent in digests. */
type DigestKind = Exclude<NotificationKind, "share" | "access_request">;

/** `{actor}`, `{title}`, `{workflow}`, `{run}`, `{count}` and `{brand}` are placeholders. */
interface DigestTexts {
  readonly one: Readonly<Record<DigestKind, { readonly subject: string; readonly line: string }>>;
  readonly several: Readonly<Record<"comments" | "runs", string>>;
  readonly more: string;
  readonly untitled: string;
  readonly somebody: string;
  readonly open: string;
  readonly foot: string;
  readonly unsubscribe: string;
}

const TEXTS: Readonly<Record<EmailLanguage, DigestTexts>> = {
  en: {
    one: {
      comment: { subject: "{actor} commented on: {title}", line: "{actor} commented:" },
      reply: { subject: "{actor} replied in: {title}", line: "{actor} replied:" },
      mention: { subject: "{actor} mentioned you in: {title}", line: "{actor} mentioned you:" },
      failed_run: { subject: "A run of {workflow} failed", line: "Run {run} failed:" },
    },
    several: { comments: "{count} new comments in: {title}", runs: "{count} runs of {workflow} failed" },
    more: "There are {count} more.",
    untitled: "Untitled document",
    somebody: "Somebody",
    open: "Open the document",
    foot: "Sent by {brand}",
    unsubscribe: "Unsubscribe from such emails",
  },
  fr: {
    one: {
      comment: { subject: "{actor} a commenté : {title}", line: "{actor} a commenté :" },
      reply: { subject: "{actor} a répondu dans : {title}", line: "{actor} a répondu :" },
      mention: { subject: "{actor} vous a mentionné dans : {title}", line: "{actor} vous a mentionné :" },
      failed_run: { subject: "Une exécution de {workflow} a échoué", line: "L’exécution {run} a échoué :" },
    },
    several: {
      comments: "{count} nouveaux commentaires dans : {title}",
      runs: "{count} exécutions de {workflow} ont échoué",
    },
    more: "Il y en a {count} de plus.",
    untitled: "Document sans titre",
    somebody: "Quelqu’un",
    open: "Ouvrir le document",
    foot: "Envoyé par {brand}",
    unsubscribe: "Ne plus recevoir ces e-mails",
  },
};

/**
 * Renders the email with the notifications of a digest, oldest first, all about one document or one workflow, in the
 * recipient's language. Every name, title and text is one line, shortened.
 */
export function renderDigest(
  notifications: readonly NotificationRecord[],
  language: string | null,
  letterhead: Letterhead,
  unsubscribeUrl: string,
): RenderedEmail {
  const resolved = resolveEmailLanguage(language);
  const texts = TEXTS[resolved];
  const [first] = notifications;
  if (first === undefined) throw new Error("a digest needs notifications");
  const valuesOf = ({ actor, document, run }: NotificationRecord): Record<string, string> => ({
    actor: oneLine(actor?.full_name ?? "") || texts.somebody,
    title: oneLine(document?.title ?? "") || texts.untitled,
    workflow: oneLine(run?.workflow ?? ""),
    run: oneLine(run?.id ?? ""),
    brand: oneLine(letterhead.brandName),
  });
  const shown = notifications.slice(0, QUOTED_MAX);
  const more = notifications.length - shown.length;
  // A mention is what its recipient looks for.
  const headline = notifications.find(({ kind }) => kind === "mention") ?? first;
  const several = texts.several[first.run === null ? "comments" : "runs"];
  const subject =
    notifications.length === 1 || headline.kind === "mention"
      ? fillIn(texts.one[digestKind(headline)].subject, valuesOf(headline))
      : fillIn(several, { ...valuesOf(first), count: String(notifications.length) });
  const content: EmailContent = {
    language: resolved,
    subject,
    heading: subject,
    sections: [
      ...shown.map((one) => ({
        text: fillIn(texts.one[digestKind(one)].line, valuesOf(one)),
        quote: oneLine(one.run?.error ?? one.excerpt ?? "", EXCERPT_MAX),
      })),
      ...(more === 0 ? [] : [{ text: fillIn(texts.more, { count: String(more) }) }]),
    ],
    ...(first.document === null
      ? {}
      : {
          link: {
            text: texts.open,
            url: `${letterhead.appUrl}/docs/${encodeURIComponent(first.document.id)}/`,
          },
        }),
    foot: fillIn(texts.foot, valuesOf(first)),
    unsubscribe: { text: texts.unsubscribe, url: unsubscribeUrl },
  };
  return layOutEmail(content, letterhead);
}

function digestKind({ kind }: NotificationRecord): DigestKind {
  if (kind === "share" || kind === "access_request") throw new Error("this kind is sent at once");
  return kind;
}
