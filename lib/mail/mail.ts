/** A mail to one recipient, in text and HTML. */
export interface Mail {
  /** The same for every attempt: mail servers and clients recognize duplicates by it. */
  readonly id: string;
  /** One address. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** `en`, `fr`. */
  readonly language: string;
  /** Ends such mails by a POST request without a login (RFC 8058). */
  readonly unsubscribeUrl?: string;
}

/** `refused`: permanently rejected; a retry is pointless. */
export type MailOutcome = "sent" | "refused";

/** The mail port. `send` throws if the mail may be retried. */
export interface Mailer {
  send(mail: Mail): Promise<MailOutcome>;
}

/** Details of the installation that sends the mails. */
export interface Letterhead {
  readonly brandName: string;
  /** URL of an image; undefined for none. */
  readonly logoUrl: string | undefined;
  /** Base URL of the application, without a trailing slash. */
  readonly appUrl: string;
}

const ADDRESS = /^[^\s@<>()[\]\\,;:"\p{Cc}]{1,64}@[^\s@<>()[\]\\,;:"\p{Cc}]{1,255}$/u;

/** Whether a text is exactly one address, so that no part of it is parsed as another address or a header. */
export const isMailAddress = (text: string): boolean => ADDRESS.test(text);

/** For installations without a mail server and a mail folder. */
export function noMailer(log: {
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
}): Mailer {
  return {
    send: async ({ id }) => {
      log.warn("a mail was not sent: no mail server is configured (DJANGO_EMAIL_HOST)", { mail: id });
      return "refused";
    },
  };
}
