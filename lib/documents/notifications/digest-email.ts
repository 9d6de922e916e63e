import type { Letterhead } from "../../mail/mail.ts";
import { type EmailContent, fillIn, layOutEmail, oneLine, type RenderedEmail } from "../mail/email-layout.ts";
import { resolveEmailLanguage } from "../mail/email-templates.ts";
import { DIGEST_TEXTS, type DigestKind } from "./digest-texts.ts";
import type { NotificationRecord } from "./list.ts";

/** Maximum notifications that an email quotes. */
const QUOTED_MAX = 20;
const EXCERPT_MAX = 320;

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
  const texts = DIGEST_TEXTS[resolved];
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
      ...shown.map((one) => {
        const quote = oneLine(one.run?.error ?? one.excerpt ?? "", EXCERPT_MAX);
        const { subject: alone, line } = texts.one[digestKind(one)];
        return { text: fillIn(quote === "" ? alone : line, valuesOf(one)), quote };
      }),
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
