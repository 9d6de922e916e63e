import type { Letterhead } from "../../mail/mail.ts";
import type { Role } from "../access/roles.ts";
import type { MailKind, StoredMail } from "../tables/mails.ts";
import { fillIn, layOutEmail, lines, oneLine, type RenderedEmail } from "./email-layout.ts";

interface EmailText {
  readonly subject: string;
  readonly heading: string;
  readonly body: string;
}

/** Texts of the emails. `{sender}`, `{title}`, `{role}` and `{brand}` are placeholders; values are escaped. */
interface EmailTexts {
  readonly kinds: Readonly<Record<MailKind, EmailText>>;
  readonly roles: Readonly<Record<Role, string>>;
  readonly untitled: string;
  readonly open: string;
  readonly somebody: string;
  readonly foot: string;
  readonly unsubscribe: string;
}

const EMAIL_TEXTS = {
  en: {
    kinds: {
      shared: {
        subject: "{sender} shared a document with you: {title}",
        heading: "{sender} shared a document with you",
        body: "You are now {role} of the document “{title}”.",
      },
      invited: {
        subject: "{sender} shared a document with you: {title}",
        heading: "{sender} invited you to a document",
        body: "Once you sign in with this address, you will be {role} of the document “{title}”.",
      },
      asked: {
        subject: "{sender} requests access to a document: {title}",
        heading: "{sender} requests access to a document",
        body: "They would like to be {role} of the document “{title}”. Open its sharing settings to answer.",
      },
      created: {
        subject: "A document was created for you: {title}",
        heading: "A document was created for you",
        body: "The document “{title}” is yours. Sign in with this address to open it.",
      },
    },
    roles: {
      reader: "a reader",
      commenter: "a commenter",
      editor: "an editor",
      administrator: "an administrator",
      owner: "an owner",
    },
    untitled: "Untitled document",
    open: "Open the document",
    somebody: "Somebody",
    foot: "Sent by {brand}",
    unsubscribe: "Unsubscribe from such emails",
  },
  fr: {
    kinds: {
      shared: {
        subject: "{sender} a partagé un document avec vous : {title}",
        heading: "{sender} a partagé un document avec vous",
        body: "Votre rôle sur le document « {title} » : {role}.",
      },
      invited: {
        subject: "{sender} a partagé un document avec vous : {title}",
        heading: "{sender} vous invite à rejoindre un document",
        body: "Connectez-vous avec cette adresse pour ouvrir le document « {title} ». Votre rôle : {role}.",
      },
      asked: {
        subject: "{sender} demande l’accès à un document : {title}",
        heading: "{sender} demande l’accès à un document",
        body: "Document : « {title} ». Rôle souhaité : {role}. Répondez depuis les paramètres de partage.",
      },
      created: {
        subject: "Un document a été créé pour vous : {title}",
        heading: "Un document a été créé pour vous",
        body: "Le document « {title} » vous appartient. Connectez-vous avec cette adresse pour l’ouvrir.",
      },
    },
    roles: {
      reader: "lecture",
      commenter: "commentaire",
      editor: "édition",
      administrator: "administration",
      owner: "propriété",
    },
    untitled: "Document sans titre",
    open: "Ouvrir le document",
    somebody: "Quelqu’un",
    foot: "Envoyé par {brand}",
    unsubscribe: "Ne plus recevoir ces e-mails",
  },
} as const satisfies Record<string, EmailTexts>;
export type EmailLanguage = keyof typeof EMAIL_TEXTS;

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
