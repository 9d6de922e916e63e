import { createHash } from "node:crypto";
import {
  accessRequestId,
  accessRequestKey,
  accessRequestsTable,
} from "../documents/tables/access-requests.ts";
import { relationKey, relationsTable } from "../documents/tables/accesses.ts";
import {
  invitationKey,
  invitationsTable,
  invitedKey,
  invitedTable,
} from "../documents/tables/invitations.ts";
import {
  commentKey,
  commentsTable,
  threadKey,
  threadsTable,
  threadUsageKey,
  threadUsageTable,
} from "../documents/tables/threads.ts";
import {
  type ContentHead,
  type StoredVersion,
  versionBlob,
  versionKey,
  versionsTable,
} from "../documents/tables/versions.ts";
import { commentBytes, REACTION_BYTES, RECORD_BYTES } from "../documents/threads/size-limits.ts";
import { UPLOADS_PREFIX } from "../platform/blobs.ts";
import { derivedId } from "../platform/ids.ts";
import type { Ports } from "../platform/ports.ts";
import type { Write } from "../platform/tables.ts";
import type { Person } from "./test-documents.ts";
import type { Player } from "./test-stage.ts";

/**
 * What may belong to a document on the stage. `content`: two versions. `threads`: one of each player with a comment, to
 * which its author reacted. `sharing`: an invitation, and requests for access of the guest and of the commenter. `marks`:
 * it is a favorite of everybody, and masked by whoever came by the link. `upload`: content that who asks has sent, and
 * has yet to finish.
 */
export type Belongings = "content" | "threads" | "sharing" | "marks" | "upload";

export const EARLIER_VERSION = "01900000-0000-7000-8000-000000000001";
export const LATEST_VERSION = "01900000-0000-7000-8000-000000000002";
export const EMOJI = "👍";
const BYTES = Buffer.from("some text");
const COMMENT = JSON.stringify("a comment");

export const threadOf = (document: string, player: Player): string =>
  derivedId("test-thread", document, player);
export const commentOf = (document: string, player: Player): string =>
  derivedId("test-comment", document, player);
export const invitationOf = (document: string): string => derivedId("test-invitation", document);

export const contentHead = (saved_at: string): ContentHead => ({
  ...{ version: LATEST_VERSION, kind: "plain", bytes: BYTES.length, saved_at },
  etag: createHash("md5").update(BYTES).digest("hex"),
});

type People = ReadonlyMap<Player, Person>;
type Plan = (document: string, at: string, people: People) => Write[];

function planVersions(document: string, at: string): Write[] {
  const { etag, bytes, kind } = contentHead(at);
  return [EARLIER_VERSION, LATEST_VERSION].map((version) => {
    const said = { etag, bytes, kind, last_modified: at, author: null };
    const item: StoredVersion = { ...versionKey(document, version), ...said };
    return { op: "put", table: versionsTable, item };
  });
}

const planThreads: Plan = (document, at, people) => {
  const players: readonly Player[] = [...people.keys(), "anonymous"];
  const bytes = RECORD_BYTES + commentBytes(COMMENT) + REACTION_BYTES;
  const threads = players.flatMap((player): Write[] => {
    const [thread, comment] = [threadOf(document, player), commentOf(document, player)];
    const user = people.get(player)?.id ?? null;
    const said = { document, created_at: at, updated_at: at };
    const reaction = { id: derivedId("test-reaction", comment), emoji: EMOJI, created_at: at };
    const begun = { creator: user, resolved: false, resolved_at: null, resolved_by: null, bytes };
    const reactions = user === null ? [] : [{ ...reaction, users: [user] }];
    const held = { ...said, id: comment, thread, user, body: COMMENT, reactions, revision: 1 };
    return [
      {
        ...{ op: "put", table: threadsTable },
        item: { ...threadKey(document, thread), ...said, id: thread, ...begun },
      },
      { op: "put", table: commentsTable, item: { ...commentKey(document, thread, comment), ...held } },
    ];
  });
  const room = { ...threadUsageKey(document), threads: players.length, bytes: bytes * players.length };
  return [...threads, { op: "put", table: threadUsageTable, item: room }];
};

const planSharing: Plan = (document, at, people) => {
  const id = invitationOf(document);
  const email = "invited@example.com";
  const invitation = { ...invitationKey(document, id), id, document, email, role: "reader" as const };
  const asked = (["guest", "commenter"] as const).map((player): Write => {
    const user = people.get(player)?.id ?? "";
    const request = accessRequestId(document, user);
    const said = { id: request, document, user, role: "editor" as const, created_at: at };
    const item = { ...accessRequestKey(document, request), ...said };
    return { op: "put", table: accessRequestsTable, item };
  });
  return [
    {
      ...{ op: "put", table: invitationsTable },
      item: { ...invitation, issuer: null, created_at: at, revision: 1 },
    },
    { op: "put", table: invitedTable, item: { ...invitedKey(email, document), id } },
    ...asked,
  ];
};

const planMarks: Plan = (document, _at, people) =>
  [...people].map(([player, { id }]) => ({
    ...{ op: "update", table: relationsTable, key: relationKey(id, document) },
    change: { set: { document, favorite: true, ...(player === "link-only" ? { masked: true } : {}) } },
  }));

const PLANS: Readonly<Record<Belongings, Plan>> = {
  ...{
    content: planVersions,
    threads: planThreads,
    sharing: planSharing,
    marks: planMarks,
    upload: () => [],
  },
};

export const uploadOf = (document: string, player: Player): string =>
  derivedId("test-upload", document, player);

/** The bytes of what belongs to a document; an upload is that of one who asks. */
export async function layBytes(
  { blobs }: Pick<Ports, "blobs">,
  document: string,
  belongings: readonly Belongings[],
  uploader: { readonly asker: Player; readonly user: string } | undefined,
): Promise<void> {
  if (belongings.includes("content"))
    for (const version of [EARLIER_VERSION, LATEST_VERSION])
      await blobs.put(versionBlob(document, version), BYTES);
  if (!belongings.includes("upload") || uploader === undefined) return;
  const { asker, user } = uploader;
  await blobs.put(`${UPLOADS_PREFIX}documents/${document}/${user}/${uploadOf(document, asker)}`, BYTES);
}

/** What belongs to a document besides its own item and the bytes of its content. */
export const planBelongings = (
  document: string,
  at: string,
  people: People,
  belongings: readonly Belongings[],
): Write[] => belongings.flatMap((one) => PLANS[one](document, at, people));
