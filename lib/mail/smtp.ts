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

/** Waits for the server, milliseconds: to connect, for its first word, for each further one, and for all of them. */
const WAITS = { connectMs: 10_000, greetingMs: 10_000, silenceMs: 20_000, allMs: 45_000 };

/** Statuses of SMTP for a reader or a text that is not taken: to ask again is of no use. */
const FOR_GOOD = new Set(["EENVELOPE", "EMESSAGE"]);

/**
 * Gives mails to a server by SMTP, each over a connection of its own. `password` is asked where the settings have none.
 * `waits` replaces how long the server is waited for.
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
      // Loaded where the first mail goes out: a server starts without it. What starts programs is left out.
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
      // A server that says a little now and then would keep all other mails waiting.
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
