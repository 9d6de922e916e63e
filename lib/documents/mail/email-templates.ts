import type { Letterhead } from "../../mail/mail.ts";
import type { StoredMail } from "../tables/mails.ts";
import { fillIn, layOutEmail, lines, oneLine, type RenderedEmail } from "./email-layout.ts";
import { EMAIL_TEXTS, type EmailLanguage, type EmailTexts } from "./email-texts.ts";

/** Returns the email language for a user's language: `fr-fr` gives `fr`; unknown languages give English. */
export function resolveEmailLanguage(language: string | null): EmailLanguage {
  const found = (language ?? "").toLowerCase().split(/[-_]/, 1)[0] ?? "";
  return Object.hasOwn(EMAIL_TEXTS, found) ? (found as EmailLanguage) : "en";
}

/** Renders an email in the recipient's language, with a link to unsubscribe if one is given. Reference 2.4. */
export function renderEmail(
  mail: StoredMail,
  letterhead: Letterhead,
  unsubscribeUrl?: string,
): RenderedEmail {
  const { brandName, appUrl } = letterhead;
  const language = resolveEmailLanguage(mail.language);
  const wording: EmailTexts = EMAIL_TEXTS[language];
  const { subject, heading, body } = wording.kinds[mail.kind];
  const known: Readonly<Record<string, string>> = {
    sender: oneLine(mail.sender) || wording.somebody,
    title: oneLine(mail.title ?? "") || wording.untitled,
    role: wording.roles[mail.role],
    brand: oneLine(brandName),
  };
  const say = (text: string): string => fillIn(text, known);
  const id = encodeURIComponent(mail.document);
  return layOutEmail(
    {
      language,
      subject: oneLine(mail.subject ?? "") || say(subject),
      heading: say(heading),
      sections: [{ text: lines(mail.message ?? "") || say(body) }],
      link: {
        text: wording.open,
        url: `${appUrl}/docs/${id}/?utm_source=docssharelink&utm_campaign=${id}`,
      },
      foot: say(wording.foot),
      ...(unsubscribeUrl === undefined
        ? {}
        : { unsubscribe: { text: wording.unsubscribe, url: unsubscribeUrl } }),
    },
    letterhead,
  );
}
