import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import { mailKey, mailsTable, type QueuedDigest } from "../tables/mails.ts";
import {
  digestKey,
  digestsTable,
  type StoredDigest,
  type StoredNotification,
} from "../tables/notifications.ts";

/** How long notifications are collected into one email, milliseconds. */
export const DIGEST_DELAY_MS = 2 * 60_000;
/** Minimum time between two emails about failed runs of a workflow, milliseconds. */
export const RUN_DIGEST_INTERVAL_MS = 3_600_000;
/** How long a digest is stored after its email was due, seconds. */
const DIGEST_STORED_S = 24 * 3600;
export const MAIL_QUEUE = "send-mail";

const RUNS_PREFIX = "runs/";

/**
 * The digest of a notification: there is one per thread, one for the text of a document, and one per workflow. Undefined for kinds whose emails are
 * sent at once.
 */
export function digestOf({
  document,
  thread,
  block,
  run,
}: Pick<StoredNotification, "document" | "thread" | "block" | "run">): string | undefined {
  if (run !== undefined) return `${RUNS_PREFIX}${run.workflow}`;
  if (document === undefined) return undefined;
  if (block !== undefined) return `texts/${document}`;
  return thread === undefined ? undefined : `threads/${document}/${thread}`;
}

/**
 * Plans that a notification is sent by email: in the queued email of its digest, or in a new one. The writes fail if
 * that has changed meanwhile. The timer is set first: without a queued email it is harmless, and without the timer the
 * email is sent some minutes later.
 */
export async function planDigest(
  deps: Pick<Ports, "tables" | "clock" | "ids" | "timers">,
  user: string,
  digest: string,
): Promise<Write[]> {
  const key = digestKey(user, digest);
  const known = await deps.tables.get(digestsTable, key);
  if (known?.mail !== undefined)
    return [{ op: "check", table: digestsTable, key, when: [["mail", "=", known.mail]] }];
  const now = deps.clock.now();
  const earliest = digest.startsWith(RUNS_PREFIX) ? (known?.due_at ?? 0) + RUN_DIGEST_INTERVAL_MS : 0;
  const due_at = Math.max(now + DIGEST_DELAY_MS, earliest);
  const id = deps.ids.ordered();
  await deps.timers.set(`notifications:${id}`, due_at, MAIL_QUEUE, { body: "{}" });
  const item: StoredDigest = {
    ...key,
    mail: id,
    due_at,
    expires_at: Math.ceil(due_at / 1000) + DIGEST_STORED_S,
  };
  const mail: QueuedDigest = {
    ...mailKey(new Date(due_at).toISOString(), id),
    id,
    kind: "digest",
    user,
    digest,
    created_at: new Date(now).toISOString(),
    attempts: 0,
  };
  return [
    { op: "put", table: digestsTable, item, when: [["mail", "missing"]] },
    { op: "put", table: mailsTable, item: mail, when: [["pk", "missing"]] },
  ];
}

/**
 * Closes a digest whose email is about to be sent: later notifications begin another one. That of a workflow stays,
 * with the time of the email.
 */
export function closeDigest({ user, digest, created_at }: QueuedDigest): Write {
  const key = digestKey(user, digest);
  if (!digest.startsWith(RUNS_PREFIX)) return { op: "delete", table: digestsTable, key };
  // If the platform has deleted the item.
  const setIfMissing = { expires_at: Math.ceil(Date.parse(created_at) / 1000) + DIGEST_STORED_S };
  return { op: "update", table: digestsTable, key, change: { remove: ["mail"], setIfMissing } };
}
