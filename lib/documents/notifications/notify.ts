import * as z from "zod";
import { eventKey, eventLogTable, type StoredEvent } from "../../events/log/table.ts";
import { eventData } from "../../events/publish.ts";
import { readAll } from "../../events/read-all.ts";
import { TOPICS, type TopicData } from "../../events/topics.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Key } from "../../platform/tables.ts";
import { isPrivileged, ROLES, type Role } from "../access/roles.ts";
import { type AuthorizationDeps, resolveAccess } from "../authorization/document-access.ts";
import { accessesTable } from "../tables/accesses.ts";
import {
  type NotificationKind,
  notifiedMentionKey,
  notifiedMentionsTable,
  RUN_SUBSCRIBERS,
  runSubscribersTable,
} from "../tables/notifications.ts";
import { commentKey, commentsTable, threadKey, threadsTable } from "../tables/threads.ts";
import { userKey, usersTable } from "../tables/users.ts";
import { readCommentText } from "../threads/comment-text.ts";
import { readComments } from "../threads/record.ts";
import { ancestorsAndSelf, type DocumentNode, readNode } from "../tree/ancestors.ts";
import { mayUseAutomation } from "./automation-access.ts";
import { readContentMentions } from "./content-mentions.ts";
import { type NewNotification, type StoreDeps, storeNotification } from "./store.ts";
import { mayRead } from "./visible.ts";

export type NotifyDeps = StoreDeps & AuthorizationDeps & Pick<Ports, "blobs">;

/** Maximum recipients of one event. */
const RECIPIENTS_MAX = 100;
/** Items of one transaction. */
const WRITTEN_AT_ONCE = 90;
/** Maximum characters of a run's id and workflow, and of its error. */
const NAME_MAX = 200;
const ERROR_MAX = 300;

/** Topics of the events that cause notifications. */
export const NOTIFYING_TOPICS = [
  "documents.commented",
  "documents.updated",
  "documents.shared",
  "documents.access_requested",
  "run.failed",
] as const;

const id = z.guid();
const commented = TOPICS["documents.commented"].data.extend({
  document_id: id,
  thread_id: id,
  comment_id: id,
});
const updated = TOPICS["documents.updated"].data.extend({ document_id: id, user_id: id.nullable() });
const shared = TOPICS["documents.shared"].data.extend({
  document_id: id,
  user_id: id.nullable(),
  shared_with: id.nullable(),
});
const accessRequested = TOPICS["documents.access_requested"].data.extend({
  document_id: id,
  user_id: id.nullable(),
});

/**
 * Creates the notifications of an event: for everybody whom it concerns and who may read about it, except the user who
 * caused it. A redelivered event creates nothing. Clients may emit events with these topics, too: those whose data is
 * not that of such an event are ignored.
 */
export async function notifyOfEvent(deps: NotifyDeps, eventId: string): Promise<void> {
  const event = await deps.tables.get(eventLogTable, eventKey(eventId));
  if (event === undefined) return;
  const data: unknown = JSON.parse(await eventData(deps, event));
  if (event.topic === "documents.commented")
    await whenValid(commented, data, (valid) => notifyOfComment(deps, event, valid));
  if (event.topic === "documents.updated")
    await whenValid(updated, data, (valid) => notifyOfUpdate(deps, event, valid));
  if (event.topic === "documents.shared")
    await whenValid(shared, data, (valid) => notifyOfShare(deps, event, valid));
  if (event.topic === "documents.access_requested")
    await whenValid(accessRequested, data, (valid) => notifyOfRequest(deps, event, valid));
  if (event.topic === "run.failed")
    await whenValid(TOPICS["run.failed"].data, data, (valid) => notifyOfRun(deps, event, valid));
}

async function whenValid<Data>(
  schema: z.ZodType<Data>,
  data: unknown,
  handle: (data: Data) => Promise<void>,
): Promise<void> {
  const { data: valid, success } = schema.safeParse(data);
  if (success) await handle(valid);
}

type Recipients = ReadonlyMap<string, NotificationKind>;

/**
 * Whom a comment concerns: as mentioned, as participants of its thread, who wrote in it or were mentioned, or as owners
 * of the document of a new thread.
 */
async function notifyOfComment(
  deps: NotifyDeps,
  event: StoredEvent,
  { document_id: id, thread_id, comment_id }: TopicData<"documents.commented">,
): Promise<void> {
  const [comment, thread, node] = await Promise.all([
    deps.tables.get(commentsTable, commentKey(id, thread_id, comment_id)),
    deps.tables.get(threadsTable, threadKey(id, thread_id)),
    readNode(deps, id),
  ]);
  if (comment === undefined || thread === undefined || node === undefined) return;
  // Ids sort by time: who wrote later was no participant yet, whenever the event is handled.
  const comments = (await readComments(deps, id, thread_id)).filter((one) => one.id <= comment_id);
  const isNew = comments[0]?.id === comment_id;
  const recipients = new Map<string, NotificationKind>();
  for (const user of readCommentText(comment.body).mentions) recipients.set(user, "mention");
  const others = isNew
    ? [
        node.document.creator,
        ...(await readMembers(deps, ancestorsAndSelf(node), (role) => role === "owner")),
      ]
    : [thread.creator, ...comments.flatMap(({ user, body }) => [user, ...readCommentText(body).mentions])];
  for (const user of others)
    if (user !== null && !recipients.has(user)) recipients.set(user, isNew ? "comment" : "reply");
  const made = { actor: comment.user, document: id, thread: thread_id, comment: comment_id };
  await store(deps, event, node, recipients, () => made);
}

/** Notifies users whom the edited text mentions, of each block once. */
async function notifyOfUpdate(
  deps: NotifyDeps,
  event: StoredEvent,
  { document_id: document, changed, user_id, user_ids }: TopicData<"documents.updated">,
): Promise<void> {
  const node = changed.includes("content") ? await readNode(deps, document) : undefined;
  const mentions = node === undefined ? [] : await readContentMentions(deps, node);
  if (node === undefined || mentions.length === 0) return;
  const keys = mentions.map(({ user, block }) => notifiedMentionKey(document, user, block));
  const known = new Set((await deps.tables.batchGet(notifiedMentionsTable, keys)).map(({ sk }) => sk));
  // Of several editors, it is not known who has mentioned the user.
  const actor = user_id ?? (user_ids.length === 1 ? (user_ids[0] ?? null) : null);
  const added = new Map<string, Key[]>();
  for (const [at, { user }] of mentions.entries()) {
    const key = keys[at];
    if (key !== undefined && !known.has(key.sk)) added.set(user, [...(added.get(user) ?? []), key]);
  }
  const blockOf = (user: string): string => (added.get(user)?.[0]?.sk ?? "").slice(user.length + 1);
  const recipients: Recipients = new Map([...added.keys()].map((user) => [user, "mention"]));
  const notified = await store(deps, event, node, recipients, (user) => ({
    actor,
    document,
    block: blockOf(user),
  }));
  // Afterwards: if this process ends before, the event is delivered again, and creates nothing twice.
  const seen = [...notified, ...(actor === null ? [] : [actor])].flatMap((user) => added.get(user) ?? []);
  for (let at = 0; at < seen.length; at += WRITTEN_AT_ONCE)
    await deps.tables.write(
      seen.slice(at, at + WRITTEN_AT_ONCE).map((item) => ({ op: "put", table: notifiedMentionsTable, item })),
    );
}

async function notifyOfShare(
  deps: NotifyDeps,
  event: StoredEvent,
  { document_id: id, change, shared_with, role, user_id }: TopicData<"documents.shared">,
): Promise<void> {
  if (change !== "given" || shared_with === null) return;
  const node = await readNode(deps, id);
  const made = { actor: user_id, document: id, ...roleOf(role) };
  if (node !== undefined) await store(deps, event, node, new Map([[shared_with, "share"]]), () => made);
}

async function notifyOfRequest(
  deps: NotifyDeps,
  event: StoredEvent,
  { document_id: id, role, user_id }: TopicData<"documents.access_requested">,
): Promise<void> {
  const node = await readNode(deps, id);
  if (node === undefined) return;
  const managers = await readMembers(deps, [node.document], isPrivileged);
  const recipients: Recipients = new Map(managers.map((user) => [user, "access_request"]));
  const made = { actor: user_id, document: id, ...roleOf(role) };
  await store(deps, event, node, recipients, () => made);
}

function roleOf(text: string): Pick<NewNotification, "role"> {
  const role = ROLES.find((one) => one === text);
  return role === undefined ? {} : { role };
}

/** Users with such a role on one of the documents. */
async function readMembers(
  deps: NotifyDeps,
  documents: DocumentNode["ancestors"],
  isMeant: (role: Role) => boolean,
): Promise<string[]> {
  const rows = await Promise.all(documents.map(({ id }) => readAll(deps, accessesTable, { pk: id })));
  return rows.flat().flatMap(({ user, role }) => (user !== null && isMeant(role) ? [user] : []));
}

/** Stores what is made for each recipient who may read it, and returns their ids. */
async function store(
  deps: NotifyDeps,
  event: StoredEvent,
  node: DocumentNode,
  recipients: Recipients,
  madeFor: (user: string) => Omit<NewNotification, "kind">,
): Promise<string[]> {
  const ids = [...recipients.keys()].filter((id) => id !== madeFor(id).actor).slice(0, RECIPIENTS_MAX);
  const notified: string[] = [];
  const users = await deps.tables.batchGet(usersTable, ids.map(userKey));
  for (const user of users) {
    const kind = recipients.get(user.id);
    if (kind === undefined || !user.is_active) continue;
    const made = { ...madeFor(user.id), kind };
    if (!mayRead(made, await resolveAccess(deps, user, node))) continue;
    await storeNotification(deps, user.id, event, made);
    notified.push(user.id);
  }
  return notified;
}

/** Notifies the users who have turned this on. The workflow service stores the run. */
async function notifyOfRun(
  deps: NotifyDeps,
  event: StoredEvent,
  { error }: TopicData<"run.failed">,
): Promise<void> {
  const { run_id, workflow_name } = event;
  if (run_id === "" || workflow_name === "") return;
  const subscribers = await readAll(deps, runSubscribersTable, { pk: RUN_SUBSCRIBERS }, RECIPIENTS_MAX);
  if (subscribers.length === 0) return;
  const shorten = (text: string, most: number): string => text.slice(0, most).toWellFormed();
  const run = {
    id: shorten(run_id, NAME_MAX),
    workflow: shorten(workflow_name, NAME_MAX),
    error: shorten(error, ERROR_MAX),
  };
  const users = await deps.tables.batchGet(
    usersTable,
    subscribers.map(({ sk }) => userKey(sk)),
  );
  for (const user of users)
    if (user.is_active && (await mayUseAutomation(deps, user.id)))
      await storeNotification(deps, user.id, event, { kind: "failed_run", actor: null, run });
}
