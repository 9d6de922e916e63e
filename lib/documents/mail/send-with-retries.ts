import { readAll } from "../../events/read-all.ts";
import type { Mail, Mailer } from "../../mail/mail.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import { mailKey, mailsTable, QUEUED_MAILS, type QueuedMail } from "../tables/mails.ts";

export type SendDeps = Pick<Ports, "tables" | "clock" | "log"> & { readonly mail: Mailer };

/** A queued email as it is now to be sent. */
export interface ComposedMail {
  /** Undefined if there is no reason any more to send it. */
  readonly mail: Omit<Mail, "id"> | undefined;
  /** Written once it was sent, or is not to be sent. */
  readonly writes: readonly Write[];
}

/** Composes emails when they are sent. */
export interface MailComposer {
  /** Writes for the transaction in which a sender takes an email for the first time. */
  claim(queued: QueuedMail): readonly Write[];
  compose(queued: QueuedMail): Promise<ComposedMail>;
}

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
export async function sendMails(deps: SendDeps, composer: MailComposer, signal: AbortSignal): Promise<void> {
  for (;;) {
    const now = new Date(deps.clock.now()).toISOString();
    // Sorts after all ids of that millisecond.
    const due = await readAll(deps, mailsTable, { pk: QUEUED_MAILS, sk: { to: `${now}/~` } }, BATCH);
    for (const mail of due) {
      if (signal.aborted) return;
      await sendOne(deps, composer, mail);
    }
    if (due.length < BATCH) return;
  }
}

/** Reschedules the email before sending it: no other sender takes it, and if this process dies it is retried. */
async function sendOne(deps: SendDeps, composer: MailComposer, queued: QueuedMail): Promise<void> {
  const { id, kind } = queued;
  const wait = Math.min(RETRY_DELAY_MS * 2 ** queued.attempts, RETRY_DELAY_MAX_MS);
  const later = { ...queued, attempts: queued.attempts + 1 };
  const put: QueuedMail = { ...later, ...mailKey(new Date(deps.clock.now() + wait).toISOString(), id) };
  const claim: Write[] = [
    {
      op: "delete",
      table: mailsTable,
      key: { pk: queued.pk, sk: queued.sk },
      when: [["pk", "exists"]],
    },
    { op: "put", table: mailsTable, item: put },
    ...(queued.attempts === 0 ? composer.claim(queued) : []),
  ];
  if (!(await deps.tables.write(claim)).ok) return;
  const details = { mail: id, kind, attempt: later.attempts };
  let composed: ComposedMail | undefined;
  try {
    composed = await composer.compose(queued);
    const { mail } = composed;
    const outcome = mail === undefined ? "sent" : await deps.mail.send({ id, ...mail });
    if (outcome === "refused") deps.log.warn("the mail server rejected an email", details);
  } catch (thrown) {
    const error = composed === undefined ? thrown : errorCodeOf(thrown);
    if (later.attempts < ATTEMPTS_MAX) {
      deps.log.warn("sending an email failed; it will be retried", { ...details, error });
      return;
    }
    deps.log.error("sending an email failed permanently; it is dropped", { ...details, error });
  }
  await deps.tables.write([
    { op: "delete", table: mailsTable, key: { pk: put.pk, sk: put.sk } },
    ...(composed?.writes ?? []),
  ]);
}

/** Responses of mail servers may contain the address, so only the code is logged. */
function errorCodeOf(error: unknown): string {
  const { code, responseCode } = error as { code?: unknown; responseCode?: unknown };
  return [code, responseCode].filter((part) => part !== undefined).join(" ") || "failed";
}
