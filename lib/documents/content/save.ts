import { hash } from "node:crypto";
import { ApiError } from "../../errors.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import { type AuthorizationDeps, authorize, type DocumentAccess } from "../authorization/document-access.ts";
import { type CommitDeps, commitChange } from "../changes/commit.ts";
import { scheduleUpdatedEvent } from "../events/updated-event.ts";
import { documentKey, documentsTable, type StoredDocument } from "../tables/documents.ts";
import {
  type ContentHead,
  type StoredVersion,
  versionBlob,
  versionKey,
  versionsTable,
} from "../tables/versions.ts";
import type { Content } from "./body.ts";
import { matchesEtag } from "./conditional-requests.ts";
import { findSupersededVersions } from "./version-retention.ts";

export type SaveDeps = CommitDeps & AuthorizationDeps & Pick<Ports, "blobs" | "ids" | "timers" | "clock">;

/**
 * Replaces the content of a document without merging. The bytes are stored first, then the version becomes the
 * latest, so readers get either the old or the new content. Unchanged bytes create no version. Throws
 * `precondition_failed` if `ifMatch` does not match the current content (null: if there is any), `not_found`,
 * `unauthorized`, `forbidden`. `hop` counts the runs that led to the save. Reference 1.5.
 */
export async function saveContent(
  deps: SaveDeps,
  first: DocumentAccess,
  content: Content,
  ifMatch: string | null | undefined,
  hop = 0,
): Promise<void> {
  const { viewer, document } = first;
  const etag = hash("md5", content.bytes);
  const stored: string[] = [];
  const superseded = await commitChange(deps, async (attempt) => {
    const access = attempt === 0 ? first : await authorize(deps, viewer, document.id, "content_patch");
    const before = access.document.content;
    const isAsRead =
      ifMatch === null ? before === undefined : ifMatch === undefined || matchesEtag(ifMatch, before?.etag);
    if (!isAsRead) throw new ApiError("precondition_failed", "The content has changed since it was read.");
    if (before?.etag === etag) return { writes: [touched(deps, access.document)], events: [], result: [] };
    const version = await store(deps, access.document, content, stored);
    return change(deps, access, { version, etag, kind: content.kind, bytes: content.bytes.length }, hop);
  });
  await removeVersionBlobs(deps, document.id, superseded);
}

/**
 * Stores the bytes under an id that sorts after all versions, and returns it. Blobs left without a version are
 * removed later.
 */
async function store(
  deps: SaveDeps,
  { id, content: before }: StoredDocument,
  { bytes }: Content,
  stored: string[],
): Promise<string> {
  const last = stored.at(-1);
  if (last !== undefined && last > (before?.version ?? "")) return last;
  const version = deps.ids.ordered();
  stored.push(version);
  await deps.blobs.put(versionBlob(id, version), bytes);
  return version;
}

function touched({ clock }: Pick<Ports, "clock">, { id }: StoredDocument): Write {
  const set = { updated_at: new Date(clock.now()).toISOString() };
  return {
    op: "update",
    table: documentsTable,
    key: documentKey(id),
    change: { set, add: { revision: 1 } },
    when: [["deleted_at", "=", null]],
  };
}

async function change(
  deps: SaveDeps,
  { document, viewer }: DocumentAccess,
  head: Omit<ContentHead, "saved_at">,
  hop: number,
): Promise<{ writes: Write[]; events: []; result: readonly string[] }> {
  const at = new Date(deps.clock.now()).toISOString();
  const { id, revision } = document;
  const [pending, retention] = await Promise.all([
    scheduleUpdatedEvent(deps, document, viewer, ["content"], hop),
    findSupersededVersions(deps, id, document.retention_cursor),
  ]);
  const { version, etag, bytes, kind } = head;
  const item: StoredVersion = {
    ...versionKey(id, version),
    etag,
    bytes,
    kind,
    last_modified: at,
    author: viewer?.id ?? null,
  };
  const set = { content: { ...head, saved_at: at }, updated_at: at, retention_cursor: retention.end };
  const writes: Write[] = [
    {
      op: "update",
      table: documentsTable,
      key: documentKey(id),
      change: { ...pending.change, set: { ...pending.change.set, ...set }, add: { revision: 1 } },
      when: [["revision", "=", revision], ["deleted_at", "=", null], ...pending.when],
    },
    { op: "put", table: versionsTable, item, when: [["pk", "missing"]] },
    ...retention.superseded.map(
      (old): Write => ({ op: "delete", table: versionsTable, key: versionKey(id, old) }),
    ),
  ];
  return { writes, events: [], result: retention.superseded };
}

/** Deletes the blobs of removed versions. A failure is only logged, since an orphaned blob is harmless. */
export async function removeVersionBlobs(
  { blobs, log }: Pick<SaveDeps, "blobs" | "log">,
  document: string,
  versions: readonly string[],
): Promise<void> {
  if (versions.length === 0) return;
  await blobs
    .delete(versions.map((version) => versionBlob(document, version)))
    .catch((error: unknown) => log.warn("deleting the blobs of old versions failed", { document, error }));
}
