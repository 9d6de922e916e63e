import { readAll } from "../../events/read-all.ts";
import type { Letterhead } from "../../mail/mail.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import { type AuthorizationDeps, resolveAccess } from "../authorization/document-access.ts";
import { renderEmail } from "../mail/email-templates.ts";
import { type ComposedMail, type MailComposer, type SendDeps, sendMails } from "../mail/send-with-retries.ts";
import { invitedKey, invitedTable } from "../tables/invitations.ts";
import type { MailKind, QueuedDigest, StoredMail } from "../tables/mails.ts";
import {
  type NotificationKind,
  notificationsTable,
  type StoredNotification,
} from "../tables/notifications.ts";
import type { StoredUser } from "../tables/users.ts";
import { readNode } from "../tree/ancestors.ts";
import { findUser, usersByEmail } from "../users/users.ts";
import { renderDigest } from "./digest-email.ts";
import { closeDigest } from "./digests.ts";
import { toRecords } from "./list.ts";
import { readSettings } from "./settings.ts";
import { createUnsubscribeToken, UNSUBSCRIBE_PATH } from "./unsubscribe.ts";
import { mayRead, visibleTo } from "./visible.ts";

export type ComposeDeps = AuthorizationDeps &
  Pick<Ports, "fullText"> & {
    readonly letterhead: Letterhead;
    /** Without a slash at the end. */
    readonly publicUrl?: string | undefined;
  };

/** Maximum notifications of one email: they are marked in the transaction that deletes it from the queue. */
const MAILED_MAX = 90;

/** Mails about documents that are sent at once, and the kind of notification that they are. */
const KINDS: Readonly<Partial<Record<MailKind, NotificationKind>>> = {
  shared: "share",
  asked: "access_request",
};

const NOTHING: ComposedMail = { mail: undefined, writes: [] };

/**
 * Sends the queued emails that are due: to users who want them, and may still read what they are about, and to
 * addresses whose invitation exists.
 */
export const sendDueMails = (deps: SendDeps & ComposeDeps, signal: AbortSignal): Promise<void> =>
  sendMails(deps, mailComposer(deps), signal);

/**
 * Composes emails at the time of sending, so that what was revoked, read, deleted or turned off since then is not in
 * them.
 */
const mailComposer = (deps: ComposeDeps): MailComposer => ({
  claim: (queued) => (queued.kind === "digest" ? [closeDigest(queued)] : []),
  compose: (queued) => (queued.kind === "digest" ? composeDigest(deps, queued) : composeMail(deps, queued)),
});

async function composeMail(deps: ComposeDeps, queued: StoredMail): Promise<ComposedMail> {
  const { to, user: id, document } = queued;
  const kind = KINDS[queued.kind];
  if (id === undefined || kind === undefined) {
    const isDue = queued.kind !== "invited" || (await isInvited(deps, to, document));
    return isDue ? { mail: { to, ...renderEmail(queued, deps.letterhead) }, writes: [] } : NOTHING;
  }
  const user = await findUser(deps, id);
  if (user === undefined || !(await readSettings(deps, id))[kind].email) return NOTHING;
  if (!(await canRead(deps, [user], document, kind))) return NOTHING;
  const unsubscribeUrl = await unsubscribeUrlOf(deps, user, [kind]);
  return {
    mail: { to, ...renderEmail(queued, deps.letterhead, unsubscribeUrl), unsubscribeUrl },
    writes: [],
  };
}

/** Whether an address is invited to a document, or has accepted the invitation. */
async function isInvited(deps: ComposeDeps, email: string, document: string): Promise<boolean> {
  if ((await deps.tables.get(invitedTable, invitedKey(email, document))) !== undefined) return true;
  return canRead(deps, await usersByEmail(deps, email), document, "share");
}

/** Whether one of the users may read a notification of this kind about a document. */
async function canRead(
  deps: ComposeDeps,
  users: readonly StoredUser[],
  document: string,
  kind: NotificationKind,
): Promise<boolean> {
  const node = await readNode(deps, document);
  if (node === undefined) return false;
  for (const user of users)
    if (user.is_active && mayRead({ kind }, await resolveAccess(deps, user, node))) return true;
  return false;
}

async function composeDigest(deps: ComposeDeps, { user: id, digest }: QueuedDigest): Promise<ComposedMail> {
  const stored = await readAll(deps, notificationsTable, { pk: id });
  const pending = stored
    .filter((one) => one.digest === digest && one.read_at === null && one.mailed_at === undefined)
    .slice(0, MAILED_MAX);
  const user = pending.length === 0 ? undefined : await findUser(deps, id);
  if (user === undefined) return NOTHING;
  const at = new Date(deps.clock.now()).toISOString();
  const writes = pending.map((one) => markMailed(one, at));
  if (!user.is_active || user.email === null) return { mail: undefined, writes };
  const settings = await readSettings(deps, id);
  const wanted = pending.filter(({ kind }) => settings[kind].email);
  const records = await toRecords(deps, await visibleTo(deps, user, wanted));
  // Nothing is sent about a comment that was deleted.
  const sent = records.filter(({ comment_id, excerpt }) => comment_id === null || excerpt !== null);
  if (sent.length === 0) return { mail: undefined, writes };
  const unsubscribeUrl = await unsubscribeUrlOf(
    deps,
    user,
    sent.map(({ kind }) => kind),
  );
  const email = renderDigest(sent, user.language, deps.letterhead, unsubscribeUrl);
  return { mail: { to: user.email, ...email, unsubscribeUrl }, writes };
}

/** An item that was deleted meanwhile is created again, without what lists and digests look for, and expires. */
const markMailed = ({ pk, sk, expires_at }: StoredNotification, at: string): Write => ({
  op: "update",
  table: notificationsTable,
  key: { pk, sk },
  change: { set: { mailed_at: at }, setIfMissing: { expires_at } },
});

async function unsubscribeUrlOf(
  deps: ComposeDeps,
  { id }: StoredUser,
  kinds: readonly NotificationKind[],
): Promise<string> {
  const token = await createUnsubscribeToken(deps, id, kinds);
  return `${deps.publicUrl ?? deps.letterhead.appUrl}/api/v1.0${UNSUBSCRIBE_PATH}/?token=${token}`;
}
