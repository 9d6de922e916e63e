import type { Mail } from "./mail.ts";

/** The sender of mails. */
export interface MailSender {
  readonly name: string;
  readonly address: string;
}

/** A mail for nodemailer. Addresses are objects, so that no part of one is parsed as another address. */
export function messageOf(mail: Mail, from: MailSender) {
  const domain = from.address.split("@").at(-1) ?? "localhost";
  return {
    messageId: `<${mail.id}@${domain}>`,
    from,
    to: { name: "", address: mail.to },
    subject: mail.subject,
    text: mail.text,
    html: mail.html,
    headers: {
      "Content-Language": mail.language,
      "Auto-Submitted": "auto-generated",
      ...(mail.unsubscribeUrl === undefined
        ? {}
        : {
            "List-Unsubscribe": `<${mail.unsubscribeUrl}>`,
            "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
          }),
    },
    // Values of a mail are text, never a file or URL to read.
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}
