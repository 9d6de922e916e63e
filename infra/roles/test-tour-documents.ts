import * as Y from "yjs";
import type { Deps, DocumentDeps } from "../../lib/app/compose.ts";
import {
  DOCUMENT_UPDATED_QUEUE,
  type UpdatedEventMessage,
} from "../../lib/documents/events/updated-event.ts";
import { stageAccesses } from "../../lib/documents/grants/staged-accesses.ts";
import { planInvitation } from "../../lib/documents/sharing/invitations.ts";
import { accessId, accessKey } from "../../lib/documents/tables/accesses.ts";
import {
  childrenOf,
  childrenTable,
  documentKey,
  documentsTable,
} from "../../lib/documents/tables/documents.ts";
import { userKey, usersTable } from "../../lib/documents/tables/users.ts";
import { versionBlob, versionKey, versionsTable } from "../../lib/documents/tables/versions.ts";
import { SEGMENTS, toSegment } from "../../lib/documents/tree/path-segment.ts";
import { OWNER_ID } from "../../lib/documents/users/users.ts";
import { type Client, waitUntil } from "./test-tour-client.ts";
import { tourLeases } from "./test-tour-leases.ts";
import { tourCursorsAndChanges } from "./test-tour-live.ts";

const BASE = "/api/v1.0";
/** Email address of a user other than the owner. */
export const TOUR_EMAIL = "tour@example.org";
/** A Yjs update in base64. */
const EMPTY_STATE = "AAA=";
/** The date of an old version. */
const OLD_VERSION = "01800000-0000-7000-8000-000000000001";
const OLD_VERSIONS = ["01800000-0000-7000-8000-000000000002", "01800000-0000-7000-8000-000000000003"];
/** With this many invitations, moving a document takes more than one transaction. */
const MANY_INVITATIONS = 45;

interface Created {
  readonly id: string;
}
interface Listed {
  readonly results: readonly Created[];
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** What the later part of the tour does with its documents, by id. */
export interface TourDocuments {
  readonly edited: string;
  /** A document of the other user, with unsaved edits. */
  readonly own: string;
  /** Its child. */
  readonly child: string;
  /** The other user. */
  readonly user: string;
}

/** All operations on documents, by their owner, by others, and by a server with a token. */
export async function tourDocuments(client: Client, serverToken: string): Promise<TourDocuments> {
  const { send } = client;
  const { data, token } = await send<{ data: Created & { user: string }; token: string }>(
    "POST",
    `${BASE}/access-tokens`,
    { email: TOUR_EMAIL },
  );
  const other = client.withToken(token);
  await other.send("GET", "/automation/event-logs");
  await tourUsers(client, other);
  await client.withToken(serverToken).send("POST", `${BASE}/documents/create-for-owner`, {
    title: "Made",
    content: "# Made",
    sub: "tour",
    email: "made-for@example.org",
  });
  const root = await send<Created>("POST", `${BASE}/documents`, { title: "Tour" });
  await tourTree(client, root.id);
  await tourContent(client, root.id);
  await share(client, other, root.id, data.user);
  await comment(client, root.id);
  await tourLists(client, other, root.id);
  const { theme_customization: theme } = await send<{ theme_customization: { name?: string } }>(
    "GET",
    `${BASE}/config`,
  );
  const { keys } = await send<{ keys: readonly unknown[] }>("GET", `${BASE}/jwks`);
  if (theme.name !== "tour" || keys.length !== 1) throw new Error("the stored settings have no effect");
  await send("GET", `${BASE}/access-tokens`);
  const own = await other.send<Created>("POST", `${BASE}/documents`, { title: "Own" });
  await other.send("PATCH", `${BASE}/documents/${own.id}/content`, { content: EMPTY_STATE });
  const child = await other.send<Created>("POST", `${BASE}/documents/${own.id}/children`, { title: "Child" });
  await client.delete(`${BASE}/access-tokens/${data.id}`);
  return { edited: root.id, own: own.id, child: child.id, user: data.user };
}

/** Moves a document whose accesses are written in stages because it has many invitations. */
export async function moveWithInvitations({ send }: Client, deps: Deps, beside: string): Promise<void> {
  const { id } = await send<Created>("POST", `${BASE}/documents`, { title: "Crowded" });
  const invited = Array.from({ length: MANY_INVITATIONS }, (_, at) =>
    planInvitation(deps, { document: id, email: `guest-${at}@example.org`, role: "reader", issuer: null }),
  );
  await deps.tables.write(invited.flatMap(({ writes }) => writes));
  await send("POST", `${BASE}/documents/${id}/move`, { target_document_id: beside, position: "right" });
}

/**
 * Moves the child of a document to the last position, so that the next insert rebalances the positions, and leaves
 * the move as a process does that dies before it has updated the accesses. Returns a function that completes the move.
 */
export async function startMove(
  { ids, tables, queues, clock }: Deps,
  { own, child, user }: TourDocuments,
): Promise<() => Promise<void>> {
  const key = documentKey(child);
  const document = await tables.get(documentsTable, key);
  if (document === undefined) throw new Error("child not found");
  const [pk, order, moveId] = [childrenOf(own), toSegment(SEGMENTS - 1), ids.random()];
  const id = accessId(child, { user });
  const granted = { created_at: new Date(clock.now()).toISOString(), revision: 1 };
  const of = { id, document: child, user, team: null, role: "owner" } as const;
  await stageAccesses({ tables }, child, moveId, [{ ...accessKey(child, id), ...of, ...granted }]);
  const invitation = { document: child, email: "left@example.org", role: "reader", issuer: user } as const;
  await tables.write([
    { op: "delete", table: childrenTable, key: { pk, sk: document.order } },
    { op: "put", table: childrenTable, item: { pk, sk: order, id: child } },
    {
      op: "update",
      table: documentsTable,
      key,
      change: { set: { order, pending_move: moveId, accesses: 1, owners: 1 } },
    },
    ...planInvitation({ ids, clock }, invitation).writes,
  ]);
  return async () => {
    const body = JSON.stringify({ document_id: child, pending_move: moveId } satisfies UpdatedEventMessage);
    await queues.send(DOCUMENT_UPDATED_QUEUE, [{ body }]);
    await waitUntil("the move to be completed", async () => {
      const now = await tables.get(documentsTable, key);
      return now?.pending_move === undefined;
    });
  };
}

/** Bytes of an edited document without a version, and the owner's token without a user: scripts run first. */
export async function createConsumerWork(
  { blobs, tables }: Deps,
  document: string,
  live: string,
): Promise<void> {
  await blobs.put(versionBlob(document, OLD_VERSION), "left behind");
  // Two versions of one week: the compaction of the log removes the older one.
  await tables.write(
    OLD_VERSIONS.map((version, at) => ({
      op: "put",
      table: versionsTable,
      item: {
        ...versionKey(live, version),
        etag: "0",
        bytes: 1,
        kind: "yjs",
        last_modified: `2024-01-0${at + 2}T00:00:00.000Z`,
        author: null,
      },
    })),
  );
  await tables.write([{ op: "delete", table: usersTable, key: userKey(OWNER_ID) }]);
}

async function tourUsers({ send, status }: Client, other: Client): Promise<void> {
  const me = await send<Created>("GET", `${BASE}/users/me`);
  await other.send("GET", `${BASE}/users/me`);
  await send("GET", `${BASE}/users?q=tour@example.org`);
  await send("GET", `${BASE}/users?q=tour`);
  await send("PATCH", `${BASE}/users/${me.id}`, { language: "fr-fr" });
  await send("PUT", `${BASE}/users/${me.id}`, { language: null });
  await send("POST", `${BASE}/users/onboarding-done`);
  // Unknown paths, and methods that a path does not support.
  for (const path of ["nowhere", "config", "jwks", "users", `users/${me.id}`])
    await status(`${BASE}/${path}`, {});
}

async function tourTree(client: Client, root: string): Promise<void> {
  const { send } = client;
  const path = `${BASE}/documents/${root}`;
  const child = await send<Created>("POST", `${path}/children`, { title: "Child" });
  // While it is a descendant, its ancestors must stay.
  for (const title of ["One below", "Another"])
    await send("POST", `${BASE}/documents/${child.id}/children`, { title });
  await send("GET", path);
  await send("GET", `${path}/children`);
  await send("GET", `${path}/tree`);
  await send("PUT", path, { title: "Renamed" });
  await send("PATCH", path, { excerpt: "short" });
  const second = await send<Created>("POST", `${BASE}/documents`, { title: "Second" });
  const move = (id: string, target_document_id: string, position = "last-child") =>
    send("POST", `${BASE}/documents/${id}/move`, { target_document_id, position });
  await send("POST", `${BASE}/documents/${second.id}/invitations`, {
    email: "moved@example.org",
    role: "reader",
  });
  await move(second.id, root);
  await move(second.id, child.id, "left");
  await move(child.id, second.id, "right");
  await client.delete(`${BASE}/documents/${child.id}`);
  await send("POST", `${BASE}/documents/${child.id}/restore`);
  await send("POST", `${path}/duplicate`, { with_accesses: true, with_descendants: true });
  await send("PUT", `${path}/link-configuration`, { link_reach: "authenticated", link_role: "reader" });
}

async function tourContent(client: Client, id: string): Promise<void> {
  const path = `${BASE}/documents/${id}`;
  for (const text of ["one", "two", "three"])
    await client.send("PATCH", `${path}/content`, { content: base64(text) });
  await client.file("GET", `${path}/content`);
  await client.file("GET", `${path}/formatted-content?content_format=markdown`);
  await client.file("GET", `${path}/export?export_format=json`);
  const text = "uploaded directly";
  const upload = await client.send<Created & { url: string; headers: Record<string, string> }>(
    "POST",
    `${path}/content-uploads`,
    { bytes: text.length },
  );
  const finish = `${path}/content-uploads/${upload.id}/finish`;
  // Nothing was uploaded yet.
  await client.status(finish, {});
  await fetch(upload.url, { method: "PUT", headers: upload.headers, body: text });
  await client.send("POST", finish);
  const { versions } = await client.send<{ versions: readonly { version_id: string }[] }>(
    "GET",
    `${path}/versions`,
  );
  const version = `${path}/versions/${versions[0]?.version_id}`;
  await client.send("GET", version);
  await client.delete(version);
  await client.send("POST", `${path}/duplicate`, {});
}

/**
 * Live edits: updates, tickets, and what the collaboration server asks. Returns the id of a document whose log is not
 * compacted yet.
 */
export async function tourUpdates(
  client: Client,
  { collaborationKey, outside }: { readonly collaborationKey: string; readonly outside: DocumentDeps },
  root: string,
): Promise<string> {
  const { id } = await client.send<Created>("POST", `${BASE}/documents/${root}/children`, { title: "Live" });
  const path = `${BASE}/documents/${id}`;
  const append = (number: number) => client.send("POST", `${path}/updates`, { updates: [updateOf(number)] });
  await append(1);
  await append(2);
  await client.send("GET", `${path}/updates`);
  await client.send("GET", `${path}/can-edit`);
  await client.send("PATCH", `${path}/content`, { content: base64("replaces the log") });
  const { versions } = await client.send<{ versions: readonly { version_id: string }[] }>(
    "GET",
    `${path}/versions`,
  );
  await client.file("POST", `${path}/versions/${versions[0]?.version_id}/restore`);
  const { ticket } = await client.send<{ ticket: string }>("POST", `${path}/collaboration-ticket`);
  const server = client.withToken(collaborationKey);
  const access = await server.send<{ user: Created; credential: string }>(
    "POST",
    `${BASE}/collaboration/tickets/redeem`,
    { document: id, ticket },
  );
  await server.send("POST", `${BASE}/collaboration/access`, {
    document: id,
    user: access.user.id,
    credential: access.credential,
  });
  await server.status(`${BASE}/collaboration/documents/${id}/updates`);
  await server.status(`${BASE}/collaboration/documents/${id}/updates`, { updates: [updateOf(3)] });
  await tourCursorsAndChanges(client, { server, outside }, id);
  await tourLeases(server, outside, id, [updateOf(5), updateOf(6)]);
  await client.status(`${BASE}/documents/media-auth`);
  const live = await client.send<Created>("POST", `${BASE}/documents/${root}/children`, { title: "Log" });
  await client.send("POST", `${BASE}/documents/${live.id}/updates`, { updates: [updateOf(4)] });
  return live.id;
}

/** Waits until the log of a document is compacted. */
export const waitForCompaction = ({ tables }: Deps, live: string): Promise<void> =>
  waitUntil("the compaction of a log", async () => {
    const version = await tables.get(versionsTable, versionKey(live, OLD_VERSIONS[0] ?? ""));
    return version === undefined;
  });

/** A Yjs update in base64 that adds a text. */
function updateOf(number: number): string {
  const doc = new Y.Doc();
  doc.getText("tour").insert(0, `edit ${number}`);
  return Buffer.from(Y.encodeStateAsUpdate(doc)).toString("base64");
}

async function share(client: Client, other: Client, id: string, user: string): Promise<void> {
  const path = `${BASE}/documents/${id}`;
  // Opened through its link, then access is requested.
  await other.send("GET", path);
  const mine = { role: "editor" };
  await other.status(`${path}/ask-for-access`, mine);
  const { results } = await client.send<Listed>("GET", `${path}/ask-for-access`);
  const request = `${path}/ask-for-access/${results[0]?.id}`;
  await client.send("GET", request);
  await client.status(`${request}/accept`, { role: "reader" });
  await other.status(`${path}/ask-for-access`, { role: "administrator" });
  const again = await client.send<Listed>("GET", `${path}/ask-for-access`);
  await client.delete(`${path}/ask-for-access/${again.results[0]?.id}`);

  const rows = await client.send<readonly (Created & { user: { id: string } })[]>("GET", `${path}/accesses`);
  const row = rows.find((one) => one.user.id === user);
  const access = `${path}/accesses/${row?.id}`;
  await client.send("GET", access);
  await client.send("PATCH", access, { role: "commenter" });
  await client.send("PUT", access, { role: "owner" });
  await client.send("PATCH", access, { role: "reader" });
  await client.delete(access);
  await client.send("POST", `${path}/accesses`, { user_id: user, role: "reader" });

  const invited = await client.send<Created>("POST", `${path}/invitations`, {
    email: "new@example.org",
    role: "reader",
  });
  await client.send("GET", `${path}/invitations`);
  const invitation = `${path}/invitations/${invited.id}`;
  await client.send("GET", invitation);
  await client.send("PATCH", invitation, { role: "editor" });
  await client.send("PUT", invitation, { email: "new@example.org", role: "reader" });
  await client.delete(invitation);
  await client.send("POST", `${path}/invitations`, { email: "comes@example.org", role: "reader" });
  await client.send("POST", `${BASE}/access-tokens`, { email: "comes@example.org" });
  await other.send("POST", `${path}/favorite`);
  await other.status(`${path}/leave`, {});
  await client.send("POST", `${path}/accesses`, { user_id: user, role: "reader" });
}

async function comment(client: Client, id: string): Promise<void> {
  const threads = `${BASE}/documents/${id}/threads`;
  const body = [{ type: "paragraph" }];
  const thread = await client.send<Created & { comments: readonly Created[] }>("POST", threads, { body });
  const path = `${threads}/${thread.id}`;
  await client.send("GET", threads);
  await client.send("GET", path);
  const added = await client.send<Created>("POST", `${path}/comments`, { body });
  await client.send("GET", `${path}/comments`);
  const one = `${path}/comments/${added.id}`;
  await client.send("GET", one);
  await client.send("PUT", one, { body });
  await client.send("PATCH", one, { body });
  await client.status(`${one}/reactions`, { emoji: "👍" });
  await client.delete(`${one}/reactions`, { emoji: "👍" });
  await client.delete(one);
  for (const step of ["resolve", "unresolve"]) await client.status(`${path}/${step}`, {});
  await client.status(path, {});
  await client.delete(path);
}

async function tourLists(client: Client, other: Client, id: string): Promise<void> {
  const path = `${BASE}/documents/${id}`;
  for (const list of ["", "/all", "/favorite_list", "/trashbin", "/search?q=tour"])
    await client.send("GET", `${BASE}/documents${list}`);
  await client.send("POST", `${path}/favorite`);
  await client.delete(`${path}/favorite`);
  await other.send("GET", path);
  await other.status(`${path}/mask`, {});
  await other.delete(`${path}/mask`);
  const { path: place } = await client.send<{ path: string }>("GET", path);
  await client.send("GET", `${BASE}/documents/search?q=tour&path=${place}`);
  await other.send("GET", `${BASE}/documents?is_favorite=true`);
}
