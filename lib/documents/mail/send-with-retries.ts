import { readAll } from "../../events/read-all.ts";
import type { Letterhead, Mailer } from "../../mail/mail.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import { mailKey, mailsTable, QUEUED_MAILS, type StoredMail } from "../tables/mails.ts";
import { renderEmail } from "./email-templates.ts";

export type MailDeps = Pick<Ports, "tables" | "clock" | "log"> & {
  readonly mail: Mailer;
  readonly letterhead: Letterhead;
};

/** Emails read per batch. */
const BATCH = 25;
/**
 * Attempts per email; delay after the first attempt, doubled after each further one, and its maximum, milliseconds.
 */
const ATTEMPTS_MAX = 10;
const RETRY_DELAY_MS = 5 * 60_000;
const RETRY_DELAY_MAX_MS = 6 * 3_600_000;

/**
 * Sends the emails that are due, oldest first, until none is left or the time is up. A failed email is retried with
 * increasing delays; after ten attempts it is dropped with an error log, without the address.
 */
export async function sendMails(deps: MailDeps, signal: AbortSignal): Promise<void> {
  for (;;) {
    const now = new Date(deps.clock.now()).toISOString();
    // Sorts after all ids of that millisecond.
    const due = await readAll(deps, mailsTable, { pk: QUEUED_MAILS, sk: { to: `${now}/~` } }, BATCH);
    for (const mail of due) {
      if (signal.aborted) return;
      await sendOne(deps, mail);
    }
    if (due.length < BATCH) return;
  }
}

/** Reschedules the email before sending it: no other sender takes it, and if this process dies it is retried. */
async function sendOne(deps: MailDeps, mail: StoredMail): Promise<void> {
  const { id, kind, document } = mail;
  const wait = Math.min(RETRY_DELAY_MS * 2 ** mail.attempts, RETRY_DELAY_MAX_MS);
  const later = { ...mail, attempts: mail.attempts + 1 };
  const put: StoredMail = { ...later, ...mailKey(new Date(deps.clock.now() + wait).toISOString(), id) };
  const claim: Write[] = [
    {
      op: "delete",
      table: mailsTable,
      key: { pk: mail.pk, sk: mail.sk },
      when: [["pk", "exists"]],
    },
    { op: "put", table: mailsTable, item: put },
  ];
  if (!(await deps.tables.write(claim)).ok) return;
  const details = { mail: id, kind, document, attempt: later.attempts };
  try {
    const email = renderEmail(mail, deps.letterhead);
    const outcome = await deps.mail.send({ id, to: mail.to, ...email });
    if (outcome === "refused") deps.log.warn("the mail server rejected an email", details);
  } catch (error) {
    if (later.attempts < ATTEMPTS_MAX) {
      deps.log.warn("sending an email failed; it will be retried", { ...details, error: errorCodeOf(error) });
      return;
    }
    deps.log.error("sending an email failed permanently; it is dropped", {
      ...details,
      error: errorCodeOf(error),
    });
  }
  await deps.tables.write([{ op: "delete", table: mailsTable, key: { pk: put.pk, sk: put.sk } }]);
}

/** Responses of mail servers may contain the address, so only the code is logged. */
function errorCodeOf(error: unknown): string {
  const { code, responseCode } = error as { code?: unknown; responseCode?: unknown };
  return [code, responseCode].filter((part) => part !== undefined).join(" ") || "failed";
}
