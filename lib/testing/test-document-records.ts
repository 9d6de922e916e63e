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
import type { Participant } from "./test-document-fixtures.ts";
import type { TestUser } from "./test-documents.ts";

/**
 * Records of a fixture document. `content`: two versions. `threads`: one per participant with a comment, to which its
 * author reacted. `sharing`: an invitation, and access requests of the guest and the commenter. `marks`: it is a
 * favorite of everyone, and masked by the user who opened it through its link. `upload`: an unfinished upload of the
 * caller.
 */
export type RecordKind = "content" | "threads" | "sharing" | "marks" | "upload";

export const EARLIER_VERSION = "01900000-0000-7000-8000-000000000001";
export const LATEST_VERSION = "01900000-0000-7000-8000-000000000002";
export const EMOJI = "👍";
const BYTES = Buffer.from("some text");
const COMMENT = JSON.stringify("a comment");

export const threadOf = (document: string, participant: Participant): string =>
  derivedId("test-thread", document, participant);
export const commentOf = (document: string, participant: Participant): string =>
  derivedId("test-comment", document, participant);
export const invitationOf = (document: string): string => derivedId("test-invitation", document);

export const contentHead = (saved_at: string): ContentHead => ({
  version: LATEST_VERSION,
  kind: "plain",
  bytes: BYTES.length,
  saved_at,
  etag: createHash("md5").update(BYTES).digest("hex"),
});

type People = ReadonlyMap<Participant, TestUser>;
type Plan = (document: string, at: string, users: People) => Write[];

function planVersions(document: string, at: string): Write[] {
  const { etag, bytes, kind } = contentHead(at);
  return [EARLIER_VERSION, LATEST_VERSION].map((version) => {
    const said = { etag, bytes, kind, last_modified: at, author: null };
    const item: StoredVersion = { ...versionKey(document, version), ...said };
    return { op: "put", table: versionsTable, item };
  });
}

const planThreads: Plan = (document, at, users) => {
  const participants: readonly Participant[] = [...users.keys(), "anonymous"];
  const bytes = RECORD_BYTES + commentBytes(COMMENT) + REACTION_BYTES;
  const threads = participants.flatMap((participant): Write[] => {
    const [thread, comment] = [threadOf(document, participant), commentOf(document, participant)];
    const user = users.get(participant)?.id ?? null;
    const said = { document, created_at: at, updated_at: at };
    const reaction = { id: derivedId("test-reaction", comment), emoji: EMOJI, created_at: at };
    const threadFields = { creator: user, resolved: false, resolved_at: null, resolved_by: null, bytes };
    const reactions = user === null ? [] : [{ ...reaction, users: [user] }];
    const held = { ...said, id: comment, thread, user, body: COMMENT, reactions, revision: 1 };
    return [
      {
        op: "put",
        table: threadsTable,
        item: { ...threadKey(document, thread), ...said, id: thread, ...threadFields },
      },
      { op: "put", table: commentsTable, item: { ...commentKey(document, thread, comment), ...held } },
    ];
  });
  const room = {
    ...threadUsageKey(document),
    threads: participants.length,
    bytes: bytes * participants.length,
  };
  return [...threads, { op: "put", table: threadUsageTable, item: room }];
};

const planSharing: Plan = (document, at, users) => {
  const id = invitationOf(document);
  const email = "invited@example.com";
  const invitation = { ...invitationKey(document, id), id, document, email, role: "reader" as const };
  const asked = (["guest", "commenter"] as const).map((participant): Write => {
    const user = users.get(participant)?.id ?? "";
    const request = accessRequestId(document, user);
    const said = { id: request, document, user, role: "editor" as const, created_at: at };
    const item = { ...accessRequestKey(document, request), ...said };
    return { op: "put", table: accessRequestsTable, item };
  });
  return [
    {
      op: "put",
      table: invitationsTable,
      item: { ...invitation, issuer: null, created_at: at, revision: 1 },
    },
    { op: "put", table: invitedTable, item: { ...invitedKey(email, document), id } },
    ...asked,
  ];
};

const planMarks: Plan = (document, _at, users) =>
  [...users].map(([participant, { id }]) => ({
    op: "update",
    table: relationsTable,
    key: relationKey(id, document),
    change: { set: { document, favorite: true, ...(participant === "link-only" ? { masked: true } : {}) } },
  }));

const PLANS: Readonly<Record<RecordKind, Plan>> = {
  content: planVersions,
  threads: planThreads,
  sharing: planSharing,
  marks: planMarks,
  upload: () => [],
};

export const uploadOf = (document: string, participant: Participant): string =>
  derivedId("test-upload", document, participant);

/** Stores the blobs of a document's records; an upload is the caller's. */
export async function storeBlobs(
  { blobs }: Pick<Ports, "blobs">,
  document: string,
  records: readonly RecordKind[],
  uploader: { readonly caller: Participant; readonly user: string } | undefined,
): Promise<void> {
  if (records.includes("content"))
    for (const version of [EARLIER_VERSION, LATEST_VERSION])
      await blobs.put(versionBlob(document, version), BYTES);
  if (!records.includes("upload") || uploader === undefined) return;
  const { caller, user } = uploader;
  await blobs.put(`${UPLOADS_PREFIX}documents/${document}/${user}/${uploadOf(document, caller)}`, BYTES);
}

/** The writes of a document's records, except its own item and the blobs. */
export const planRecords = (
  document: string,
  at: string,
  users: People,
  records: readonly RecordKind[],
): Write[] => records.flatMap((one) => PLANS[one](document, at, users));
