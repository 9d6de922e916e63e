import type { Letterhead } from "../../mail/mail.ts";
import type { Role } from "../access/roles.ts";
import type { MailKind, StoredMail } from "../tables/mails.ts";

/** Maximum characters of a name or title in an email, so that it cannot contain a message of its own. */
const SHOWN_MAX = 120;

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
  },
} as const satisfies Record<string, EmailTexts>;
type Language = keyof typeof EMAIL_TEXTS;

export interface RenderedEmail {
  readonly language: Language;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** Returns the email language for a user's language: `fr-fr` gives `fr`; unknown languages give English. */
export function resolveEmailLanguage(language: string | null): Language {
  const found = (language ?? "").toLowerCase().split(/[-_]/, 1)[0] ?? "";
  return Object.hasOwn(EMAIL_TEXTS, found) ? (found as Language) : "en";
}

/** Renders an email in the recipient's language. Reference 2.4. */
export function renderEmail(mail: StoredMail, { brandName, logoUrl, appUrl }: Letterhead): RenderedEmail {
  const language = resolveEmailLanguage(mail.language);
  const wording: EmailTexts = EMAIL_TEXTS[language];
  const { subject, heading, body } = wording.kinds[mail.kind];
  const known: Readonly<Record<string, string>> = {
    sender: oneLine(mail.sender) || wording.somebody,
    title: oneLine(mail.title ?? "") || wording.untitled,
    role: wording.roles[mail.role],
    brand: oneLine(brandName),
  };
  const say = (text: string): string => text.replace(/\{(\w+)\}/g, (_, name: string) => known[name] ?? "");
  const id = encodeURIComponent(mail.document);
  const link = `${appUrl}/docs/${id}/?utm_source=docssharelink&utm_campaign=${id}`;
  const said = lines(mail.message ?? "") || say(body);
  const [head, foot] = [say(heading), say(wording.foot)];
  return {
    language,
    subject: oneLine(mail.subject ?? "") || say(subject),
    text: `${head}\n\n${said}\n\n${wording.open}: ${link}\n\n${foot}\n`,
    html: [
      `<!DOCTYPE html><html lang="${language}"><head><meta charset="utf-8"><title>${escaped(head)}</title></head>`,
      '<body style="font-family:sans-serif;max-width:36em;margin:2em auto;padding:0 1em">',
      ...(logoUrl === undefined
        ? []
        : [`<p><img src="${escaped(logoUrl)}" alt="${escaped(oneLine(brandName))}" height="48"></p>`]),
      `<h1 style="font-size:1.3em">${escaped(head)}</h1><p>${escaped(said).replaceAll("\n", "<br>")}</p>`,
      `<p><a href="${escaped(link)}">${escaped(wording.open)}</a></p><p>${escaped(foot)}</p></body></html>`,
    ].join("\n"),
  };
}

/** Removes line breaks and invisible characters. */
const visible = (text: string): string =>
  text
    .replace(/[\p{Cc}\u2028\u2029]+/gu, " ")
    // Direction marks can disguise text.
    .replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "")
    .trim();

/** One line, shortened to SHOWN_MAX characters. */
function oneLine(text: string): string {
  const line = visible(text);
  const letters = [...line];
  return letters.length > SHOWN_MAX ? `${letters.slice(0, SHOWN_MAX).join("")}…` : line;
}

/** Cleans each line of a message. Its length was validated. */
const lines = (text: string): string =>
  text
    .split(/\r\n|[\r\n\u2028\u2029]/)
    .map(visible)
    .join("\n")
    .trim();

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? "");
