import type { Mail } from "./mail.ts";

/** Whom mails come from. */
export interface MailSender {
  readonly name: string;
  readonly address: string;
}

/** A mail as nodemailer takes it. Addresses are objects: nothing of one is read as another. */
export function messageOf(mail: Mail, from: MailSender) {
  const domain = from.address.split("@").at(-1) ?? "localhost";
  return {
    messageId: `<${mail.id}@${domain}>`,
    from,
    to: { name: "", address: mail.to },
    subject: mail.subject,
    text: mail.text,
    html: mail.html,
    headers: { "Content-Language": mail.language, "Auto-Submitted": "auto-generated" },
    // What is said of a mail is text, never a file or an address to be read.
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}
