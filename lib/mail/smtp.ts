import { Socket } from "node:net";
import { isMailAddress, type Mailer } from "./mail.ts";
import { type MailSender, messageOf } from "./mail-message.ts";

export interface SmtpSettings {
  readonly host: string;
  readonly port: number;
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly security: "none" | "starttls" | "tls";
}

/** Timeouts in milliseconds: for the connection, the greeting, each further response, and the whole session. */
const WAITS = { connectMs: 10_000, greetingMs: 10_000, silenceMs: 20_000, allMs: 45_000 };

/** Nodemailer's error codes for a rejected recipient or message: a retry is pointless. */
const FOR_GOOD = new Set(["EENVELOPE", "EMESSAGE"]);

/**
 * Sends mails to an SMTP server, each over a separate connection. `password` is called if the settings contain none.
 * `waits` overrides the timeouts.
 */
export function smtpMailer(
  settings: SmtpSettings,
  from: MailSender,
  password: () => Promise<string | undefined>,
  waits: typeof WAITS = WAITS,
): Mailer {
  return {
    send: async (mail) => {
      if (!isMailAddress(mail.to)) return "refused";
      // Loaded with the first mail, so that a server starts without it. The parts that start programs are not loaded.
      const [{ default: Sender }, { default: Transport }] = await Promise.all([
        import("nodemailer/lib/mailer"),
        import("nodemailer/lib/smtp-transport"),
      ]);
      const { host, port, user, security } = settings;
      const socket = new Socket();
      const pass = settings.password ?? (user === undefined ? undefined : await password());
      const options = {
        host,
        port,
        secure: security === "tls",
        ...(security === "starttls" ? { requireTLS: true } : { ignoreTLS: true }),
        ...(user === undefined ? {} : { auth: { user, pass: pass ?? "" } }),
        connectionTimeout: waits.connectMs,
        greetingTimeout: waits.greetingMs,
        socketTimeout: waits.silenceMs,
        socket,
      };
      const transport = new Sender(new Transport(options), options);
      // Otherwise a server that sends a byte from time to time would block all other mails.
      const late = setTimeout(() => socket.destroy(), waits.allMs);
      try {
        await transport.sendMail(messageOf(mail, from));
        return "sent";
      } catch (error) {
        if (isForGood(error)) return "refused";
        throw error;
      } finally {
        clearTimeout(late);
        transport.close();
        socket.destroy();
      }
    },
  };
}

function isForGood(error: unknown): boolean {
  const { code, permanent } = error as { code?: unknown; permanent?: unknown };
  return permanent === true && typeof code === "string" && FOR_GOOD.has(code);
}
