import * as z from "zod";
import { ApiError } from "../../errors.ts";
import { readAll } from "../../events/read-all.ts";
import type { PageRequest } from "../../http/page.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import { ROLES } from "../access/roles.ts";
import type { AuthorizationDeps } from "../authorization/document-access.ts";
import { decodeParts } from "../full-text/text-parts.ts";
import {
  NOTIFICATION_KINDS,
  notificationKey,
  notificationsTable,
  type StoredNotification,
} from "../tables/notifications.ts";
import { commentKey, commentsTable } from "../tables/threads.ts";
import { type StoredUser, userKey, usersTable } from "../tables/users.ts";
import { readCommentText, shorten } from "../threads/comment-text.ts";
import { lightUserRecord, toLightUser } from "../users/record.ts";
import { type VisibleNotification, visibleTo } from "./visible.ts";

/** A notification as returned by the API. */
export const notificationRecord = z
  .object({
    id: z.string(),
    kind: z.enum(NOTIFICATION_KINDS),
    created_at: z.string(),
    read_at: z.string().nullable().describe("Null if it is unread"),
    actor: lightUserRecord.nullable().describe("Null if anonymous, and of runs"),
    document: z.object({ id: z.string(), title: z.string().nullable() }).nullable(),
    thread_id: z.string().nullable(),
    comment_id: z.string().nullable(),
    block_id: z
      .string()
      .nullable()
      .describe("Of a mention in the text: the block; empty if it is outside of blocks"),
    excerpt: z
      .string()
      .nullable()
      .describe(
        "Beginning of the comment, or of the block with the mention; null if it was deleted, and of other kinds",
      ),
    role: z.enum(ROLES).nullable().describe("The role that was given or requested"),
    run: z.object({ id: z.string(), workflow: z.string(), error: z.string() }).nullable(),
  })
  .meta({ id: "Notification" });
export type NotificationRecord = z.infer<typeof notificationRecord>;

type ExcerptDeps = Pick<Ports, "tables" | "fullText">;

/** A page of notifications, with the number of all and of unread ones. */
export interface NotificationPage {
  readonly count: number;
  readonly unread_count: number;
  readonly results: readonly NotificationRecord[];
}

/**
 * Lists a page of a user's notifications, latest first. Those about documents that the user may not read any more are
 * neither listed nor counted.
 */
export async function listNotifications(
  deps: AuthorizationDeps & ExcerptDeps,
  user: StoredUser,
  filter: { readonly is_read?: boolean | undefined },
  { offset, limit }: PageRequest,
): Promise<NotificationPage> {
  const visible = await visibleTo(deps, user, await readListed(deps, user.id));
  const unread = visible.filter(({ notification }) => notification.read_at === null);
  const read = visible.filter(({ notification }) => notification.read_at !== null);
  const wanted = filter.is_read === undefined ? visible : filter.is_read ? read : unread;
  return {
    count: wanted.length,
    unread_count: unread.length,
    results: await toRecords(deps, wanted.slice(offset, offset + limit)),
  };
}

/** Latest first. The platform may delete expired ones later. */
async function readListed(
  deps: Pick<Ports, "tables" | "clock">,
  user: string,
): Promise<readonly StoredNotification[]> {
  const stored = await readAll(deps, notificationsTable, { pk: user, reverse: true });
  const now = deps.clock.now() / 1000;
  return stored.filter(({ in_app, expires_at }) => in_app && expires_at > now);
}

/** Converts notifications, with titles, names and texts as they are now. */
export async function toRecords(
  deps: ExcerptDeps,
  visible: readonly VisibleNotification[],
): Promise<NotificationRecord[]> {
  const { tables } = deps;
  const actors = new Set(visible.flatMap(({ notification: { actor } }) => actor ?? []));
  const commentKeys = visible.flatMap(({ notification: { document, thread, comment } }) =>
    document === undefined || thread === undefined || comment === undefined
      ? []
      : [commentKey(document, thread, comment)],
  );
  const [users, comments, blocks] = await Promise.all([
    tables.batchGet(usersTable, [...actors].map(userKey)),
    tables.batchGet(commentsTable, commentKeys),
    readBlockExcerpts(deps, visible),
  ]);
  const names = new Map(users.map((user) => [user.id, toLightUser(user)]));
  const excerpts = new Map(comments.map(({ id, body }) => [id, readCommentText(body).excerpt]));
  return visible.map(({ notification, access }) => {
    const { sk, kind, created_at, read_at, actor, thread, comment, block, role, run } = notification;
    return {
      id: sk,
      kind,
      created_at,
      read_at,
      actor: names.get(actor ?? "") ?? null,
      document: access === undefined ? null : { id: access.document.id, title: access.document.title },
      thread_id: thread ?? null,
      comment_id: comment ?? null,
      block_id: block ?? null,
      excerpt: excerpts.get(comment ?? "") ?? blocks.get(notification) ?? null,
      role: role ?? null,
      run: run ?? null,
    };
  });
}

/** The beginnings of the blocks that mention a user, from the full-text index, which has the text by block. */
async function readBlockExcerpts(
  { fullText }: ExcerptDeps,
  visible: readonly VisibleNotification[],
): Promise<ReadonlyMap<StoredNotification, string>> {
  const excerpts = new Map<StoredNotification, string>();
  const mentions = visible.flatMap(({ notification }) => (notification.block ? [notification] : []));
  const ids = new Set(mentions.flatMap(({ document }) => document ?? []));
  if (ids.size === 0) return excerpts;
  for (const { id, data } of await fullText.get([...ids])) {
    const parts = decodeParts(data).filter(({ field }) => field === "heading" || field === "body");
    for (const mention of mentions.filter(({ document }) => document === id)) {
      const text = parts.filter(({ source }) => source === mention.block).map((part) => part.text);
      if (text.length > 0) excerpts.set(mention, shorten(text.join(" ")));
    }
  }
  return excerpts;
}

/** Marks a notification as read. Throws `not_found`. */
export async function markRead(
  deps: Pick<Ports, "tables" | "clock">,
  user: StoredUser,
  id: string,
): Promise<void> {
  const key = notificationKey(user.id, id);
  const found = await deps.tables.get(notificationsTable, key);
  if (found?.in_app !== true) throw new ApiError("not_found", "No Notification matches the given query.");
  if (found.read_at === null) await deps.tables.write([readWrite(deps, found)]);
}

/** Notifications that are changed per transaction. */
const CHANGED_AT_ONCE = 90;

/** Marks all notifications of a user as read. */
export async function markAllRead(deps: Pick<Ports, "tables" | "clock">, user: StoredUser): Promise<void> {
  const unread = (await readListed(deps, user.id)).filter(({ read_at }) => read_at === null);
  for (let at = 0; at < unread.length; at += CHANGED_AT_ONCE) {
    const some = unread.slice(at, at + CHANGED_AT_ONCE);
    const { ok } = await deps.tables.write(some.map((one) => readWrite(deps, one)));
    // One of them was deleted meanwhile.
    if (!ok) for (const one of some) await deps.tables.write([readWrite(deps, one)]);
  }
}

/** Fails if the notification was deleted meanwhile. */
const readWrite = ({ clock }: Pick<Ports, "clock">, { pk, sk }: StoredNotification): Write => ({
  op: "update",
  table: notificationsTable,
  key: { pk, sk },
  change: { set: { read_at: new Date(clock.now()).toISOString() } },
  when: [["pk", "exists"]],
});
