import { isMailAddress, type Mailer } from "./mail.ts";
import { type MailSender, messageOf } from "./mail-message.ts";
import type { SmtpSettings } from "./mail-settings.ts";

/** Waits for the server, milliseconds: to connect, for its first word, and for each further one. */
const CONNECT_TIMEOUT_MS = 10_000;
const GREETING_TIMEOUT_MS = 10_000;
const SILENCE_TIMEOUT_MS = 20_000;

/** Statuses of SMTP for a reader or a text that is not taken: to ask again is of no use. */
const FOR_GOOD = new Set(["EENVELOPE", "EMESSAGE"]);

/**
 * Gives mails to a server by SMTP, each over a connection of its own. `password` is asked where the settings have none.
 */
export function smtpMailer(
  settings: SmtpSettings,
  from: MailSender,
  password: () => Promise<string | undefined>,
): Mailer {
  return {
    send: async (mail) => {
      if (!isMailAddress(mail.to)) return "refused";
      // Loaded where the first mail goes out: a server starts without it. What starts programs is left out.
      const [{ default: Sender }, { default: Transport }] = await Promise.all([
        import("nodemailer/lib/mailer"),
        import("nodemailer/lib/smtp-transport"),
      ]);
      const { host, port, user, security } = settings;
      const pass = settings.password ?? (user === undefined ? undefined : await password());
      const options = {
        ...{ host, port, secure: security === "tls" },
        ...(security === "starttls" ? { requireTLS: true } : { ignoreTLS: true }),
        ...(user === undefined ? {} : { auth: { user, pass: pass ?? "" } }),
        ...{ connectionTimeout: CONNECT_TIMEOUT_MS, greetingTimeout: GREETING_TIMEOUT_MS },
        socketTimeout: SILENCE_TIMEOUT_MS,
      };
      const transport = new Sender(new Transport(options), options);
      try {
        await transport.sendMail(messageOf(mail, from));
        return "sent";
      } catch (error) {
        if (isForGood(error)) return "refused";
        throw error;
      } finally {
        transport.close();
      }
    },
  };
}

function isForGood(error: unknown): boolean {
  const { code, permanent } = error as { code?: unknown; permanent?: unknown };
  return permanent === true && typeof code === "string" && FOR_GOOD.has(code);
}
