/** A mail to one reader, in text and in HTML. */
export interface Mail {
  /** The same each time that the mail is tried: mail servers and readers know by it what they have already. */
  readonly id: string;
  /** One address. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** `en`, `fr`. */
  readonly language: string;
}

/** `refused`: it will not be taken however often it is tried. */
export type MailOutcome = "sent" | "refused";

/** The mail port. `send` throws where it may be tried again. */
export interface Mailer {
  send(mail: Mail): Promise<MailOutcome>;
}

/** What letters say of the installation that they come from. */
export interface Letterhead {
  readonly brandName: string;
  /** Address of a picture; undefined for none. */
  readonly logoUrl: string | undefined;
  /** Where documents are opened, without a slash at its end. */
  readonly appUrl: string;
}

const ADDRESS = /^[^\s@<>()[\]\\,;:"\p{Cc}]{1,64}@[^\s@<>()[\]\\,;:"\p{Cc}]{1,255}$/u;

/** Whether a text is one address and no more: nothing of it is read as another one, or as a header. */
export const isMailAddress = (text: string): boolean => ADDRESS.test(text);

/** For where there is no server that takes mails, and no folder to lay them in. */
export function noMailer(log: {
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
}): Mailer {
  return {
    send: async ({ id }) => {
      log.warn("a mail was not sent: no mail server is set up (DJANGO_EMAIL_HOST)", { mail: id });
      return "refused";
    },
  };
}
