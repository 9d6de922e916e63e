import * as Y from "yjs";
import type { Deps } from "../../lib/app/compose.ts";
import { MAIL_QUEUE } from "../../lib/documents/notifications/digests.ts";
import { NOTIFICATIONS_MAX } from "../../lib/documents/notifications/store.ts";
import {
  digestsTable,
  notificationKey,
  notificationStateKey,
  notificationStatesTable,
  notificationsTable,
  type StoredNotification,
} from "../../lib/documents/tables/notifications.ts";
import { sessionEntriesTable, sessionsOfUser } from "../../lib/documents/tables/sessions.ts";
import { timersTable } from "../../lib/platform/timers-table.ts";
import { type Client, waitUntil } from "./test-tour-client.ts";

const BASE = "/api/v1.0";
const SETTINGS = `${BASE}/users/me/notification-settings`;
/** Failed runs above their limit. */
const OLD_RUNS = 110;
const PER_WRITE = 55;

interface Page {
  readonly results: readonly {
    readonly id: string;
    readonly kind: string;
    readonly block_id: string | null;
  }[];
}

/**
 * Causes notifications of a user who has more than the limit, and an email with two of them. Returns a function that
 * waits for them.
 */
export async function tourNotifications(owner: Client, deps: Deps): Promise<() => Promise<void>> {
  const { data, token } = await owner.send<{ data: { user: string }; token: string }>(
    "POST",
    `${BASE}/access-tokens`,
    { email: "notified@example.org" },
  );
  const { user } = data;
  const client = owner.withToken(token);
  const entry = { pk: sessionsOfUser(user), sk: "ended", hash: "ended" };
  await deps.tables.write([{ op: "put", table: sessionEntriesTable, item: entry }]);
  await client.send("GET", SETTINGS);
  await client.send("PATCH", SETTINGS, { failed_run: { in_app: true, email: false } });
  await fillUp(deps, user);

  const { id } = await client.send<{ id: string }>("POST", `${BASE}/documents`, { title: "Notified" });
  const link = { link_reach: "public", link_role: "editor" };
  await client.send("PUT", `${BASE}/documents/${id}/link-configuration`, link);
  const threads = `${BASE}/documents/${id}/threads`;
  const thread = await owner.send<{ id: string }>("POST", threads, { body: "First" });
  const mention = [{ type: "mention", props: { user, name: "Notified" } }];
  await owner.send("POST", `${threads}/${thread.id}/comments`, { body: mention });
  const content = Buffer.from(stateWithMention(user)).toString("base64");
  await owner.send("PATCH", `${BASE}/documents/${id}/content`, { content });
  const edited = { document_id: id, title: null, parent_id: null, user_id: null, user_ids: [] };
  const updated = { topic: "documents.updated", data: { ...edited, changed: ["content"] } };
  await owner.send("POST", "/automation/events/emit", updated);
  const failed = { scan_id: "tour", target: "tour", duration_ms: 1, error: "failed" };
  const emitted = { topic: "run.failed", run_id: "tour", workflow_name: "tour", data: failed };
  await owner.send("POST", "/automation/events/emit", emitted);

  const at = deps.clock.now();
  const due = { due: "due", dueAt: new Date(at).toISOString(), at, queue: MAIL_QUEUE, body: "{}" };
  const timer = { pk: "notifications:tour", sk: "timer", ...due };
  await deps.tables.write([{ op: "put", table: timersTable, item: timer }]);

  for (const status of [
    await client.status(`${BASE}/notifications/unsubscribe?token=x.y`),
    await client.status(`${BASE}/notifications/unsubscribe?token=x.y`, {}),
  ])
    if (status !== 403) throw new Error(`an invalid unsubscribe link returned ${status}`);

  return async () => {
    const list = () => client.send<Page>("GET", `${BASE}/notifications`);
    const has = async (kind: string) => (await list()).results.some((one) => one.kind === kind);
    for (const kind of ["comment", "mention", "failed_run"])
      await waitUntil(`a notification: ${kind}`, () => has(kind));
    await waitUntil("a notification of a mention in a text", async () =>
      (await list()).results.some(({ block_id }) => block_id === "tour"),
    );
    // The clock of the function that sends mails is ahead of the digest.
    await waitUntil("the email of a digest", async () => {
      await deps.queues.send(MAIL_QUEUE, [{ body: "{}" }]);
      const { items } = await deps.tables.query(digestsTable, { pk: `${user}/digests` });
      return items.length === 0;
    });
    const [first] = (await list()).results;
    await client.send("POST", `${BASE}/notifications/${first?.id}/read`);
    await client.send("POST", `${BASE}/notifications/read-all`);
    await client.send("PATCH", SETTINGS, { failed_run: { in_app: false } });
  };
}

/** A content with one block, which mentions a user. */
function stateWithMention(user: string): Uint8Array {
  const doc = new Y.Doc();
  const group = new Y.XmlElement("blockGroup");
  const container = new Y.XmlElement("blockContainer");
  const paragraph = new Y.XmlElement("paragraph");
  const mention = new Y.XmlElement("mention");
  doc.getXmlFragment("document-store").insert(0, [group]);
  container.setAttribute("id", "tour");
  mention.setAttribute("user", user);
  group.insert(0, [container]);
  container.insert(0, [paragraph]);
  paragraph.insert(0, [mention]);
  return Y.encodeStateAsUpdate(doc);
}

/** Stores failed runs, and a count at which the next notification cleans up. */
async function fillUp({ tables, clock }: Deps, user: string): Promise<void> {
  const now = clock.now();
  const items = Array.from({ length: OLD_RUNS }, (_, at): StoredNotification => {
    const number = at.toString(16).padStart(12, "0");
    return {
      ...notificationKey(user, `00000000-0000-7000-8000-${number}`),
      kind: "failed_run",
      created_at: new Date(now).toISOString(),
      expires_at: Math.ceil(now / 1000) + 3_600,
      actor: null,
      run: { id: "tour", workflow: "tour", error: "" },
      in_app: true,
      read_at: null,
    };
  });
  for (let at = 0; at < items.length; at += PER_WRITE)
    await tables.write(
      items.slice(at, at + PER_WRITE).map((item) => ({ op: "put", table: notificationsTable, item })),
    );
  const set = { total: NOTIFICATIONS_MAX * 2 };
  await tables.update(notificationStatesTable, notificationStateKey(user), { set });
}
