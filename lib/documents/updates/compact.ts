import { hash } from "node:crypto";
import { readAll } from "../../events/read-all.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import { adoptFromUpdates } from "../attachments/adopt.ts";
import { findAttachmentKeys } from "../attachments/attachment-keys.ts";
import type { AuthorizationDeps } from "../authorization/document-access.ts";
import { type Change, type CommitDeps, commitChange } from "../changes/commit.ts";
import { scheduleUpdatedEvent } from "../events/updated-event.ts";
import { documentKey, documentsTable, type StoredDocument } from "../tables/documents.ts";
import { positionKey, updatesPartition, updatesTable } from "../tables/updates.ts";
import { type StoredVersion, versionBlob, versionKey, versionsTable } from "../tables/versions.ts";
import { contentWithLog, type DocumentWithLog, type LogEntry, readDocumentWithLog } from "./read-log.ts";
import { findSupersededVersions, removeVersionBlobs } from "./version-retention.ts";

export type CompactDeps = CommitDeps &
  AuthorizationDeps &
  Pick<Ports, "tables" | "blobs" | "ids" | "clock" | "timers">;

/** A version made from the log replaces the previous one if both are of the same period, milliseconds. */
const LIVE_PERIOD_MS = 5 * 60_000;
/** Users named in a version or an event. */
const AUTHORS_MAX = 100;
/** Items deleted by one transaction. */
const DELETED_AT_ONCE = 100;

/** The result of a compaction: the size of the content, and the position that it includes; 0 if there is none. */
export interface Compacted {
  readonly bytes: number;
  readonly position: number;
}

/**
 * Saves the content with its log as a new version, then deletes the log's prefix. Does nothing if the log is empty. A crash
 * between the two leaves entries that the next compaction deletes. `keepsPrevious`: the previous version stays, even if
 * it is of the same period. Throws `not_found`.
 */
export async function compactLog(
  deps: CompactDeps,
  id: string,
  { keepsPrevious = false } = {},
): Promise<Compacted> {
  let stored: StoredSnapshot | undefined;
  const done = await commitChange<Compacted & { readonly planned?: Planned }>(deps, async () => {
    const read = await readDocumentWithLog(deps, id);
    const last = read.entries.at(-1);
    if (last === undefined) {
      const { bytes = 0, position = 0 } = read.document.content ?? {};
      return { writes: [], events: [], result: { bytes, position } };
    }
    await adoptFromUpdates(deps, id, read.entries);
    if (stored?.position !== last.position || stored.base !== read.document.content?.version)
      stored = await storeSnapshot(deps, read, last.position);
    const { result, ...change } = await planCompaction(deps, read, stored, keepsPrevious);
    return { ...change, result: { ...result, planned: result } };
  });
  const { bytes, position, planned } = done;
  if (planned !== undefined) {
    await removeVersionBlobs(deps, id, planned.superseded);
    await deleteEntries(deps, id, planned.generation, position);
  }
  return { bytes, position };
}

interface StoredSnapshot {
  readonly version: string;
  /** The version that it was made from. */
  readonly base: string | undefined;
  readonly position: number;
  readonly bytes: number;
  readonly etag: string;
  readonly attachments: readonly string[];
}

async function storeSnapshot(
  deps: CompactDeps,
  read: DocumentWithLog,
  position: number,
): Promise<StoredSnapshot> {
  const content = await contentWithLog(deps, read);
  if (content === undefined) throw new TypeError("a log has content");
  const version = deps.ids.ordered();
  await deps.blobs.put(versionBlob(read.document.id, version), content.bytes);
  const etag = hash("md5", content.bytes);
  const base = read.document.content?.version;
  const attachments = findAttachmentKeys(content.bytes);
  return { version, base, position, bytes: content.bytes.length, etag, attachments };
}

interface Planned extends Compacted {
  readonly generation: number;
  readonly superseded: readonly string[];
}

async function planCompaction(
  deps: CompactDeps,
  { document, entries }: DocumentWithLog,
  { version, position, bytes, etag, attachments }: StoredSnapshot,
  keepsPrevious: boolean,
): Promise<Change<Planned>> {
  const { id, revision, content: before, generation = 0 } = document;
  const at = new Date(deps.clock.now()).toISOString();
  const authors = authorsOf(entries);
  const viewer = authors.length > 0 ? { id: authors.at(-1) ?? "" } : undefined;
  const [pending, retention, previous] = await Promise.all([
    scheduleUpdatedEvent(deps, document, viewer, ["content"]),
    findSupersededVersions(deps, id, document.retention_cursor),
    before === undefined ? undefined : deps.tables.get(versionsTable, versionKey(id, before.version)),
  ]);
  const superseded = new Set(retention.superseded);
  if (previous !== undefined && !keepsPrevious && isSamePeriod(previous, at)) superseded.add(previous.sk);
  const kept = previous !== undefined && superseded.has(previous.sk) ? (previous.authors ?? []) : [];
  const item: StoredVersion = {
    ...versionKey(id, version),
    etag,
    bytes,
    kind: "yjs",
    last_modified: at,
    author: viewer?.id ?? null,
    authors: union(kept, authors),
    attachments,
  };
  const set = {
    content: { version, etag, bytes, kind: "yjs", saved_at: at, position },
    log_start: position,
    updated_at: at,
    retention_cursor: retention.end,
    pending_update_authors: union(document.pending_update_authors ?? [], authors),
  };
  const writes: Write[] = [
    {
      op: "update",
      table: documentsTable,
      key: documentKey(id),
      change: { ...pending.change, set: { ...pending.change.set, ...set }, add: { revision: 1 } },
      when: [["revision", "=", revision], ...pending.when],
    },
    { op: "put", table: versionsTable, item, when: [["pk", "missing"]] },
    ...[...superseded].map(
      (old): Write => ({ op: "delete", table: versionsTable, key: versionKey(id, old) }),
    ),
  ];
  return { writes, events: [], result: { bytes, position, generation, superseded: [...superseded] } };
}

const authorsOf = (entries: readonly LogEntry[]): string[] =>
  [...new Set(entries.flatMap(({ authors }) => authors))].filter((author) => author !== null);

const union = (some: readonly string[], more: readonly string[]): string[] =>
  [...new Set([...some, ...more])].slice(0, AUTHORS_MAX);

/** Whether a version was made from the log, in the same period as a new one. */
function isSamePeriod({ authors, last_modified }: StoredVersion, at: string): boolean {
  const period = (time: string): number => Math.floor(Date.parse(time) / LIVE_PERIOD_MS);
  return authors !== undefined && period(last_modified) === period(at);
}

/** Deletes the entries up to a position, and their blobs. */
export async function deleteEntries(
  { tables, blobs }: Pick<Ports, "tables" | "blobs">,
  document: StoredDocument["id"],
  generation: number,
  position: number,
): Promise<void> {
  const pk = updatesPartition(document, generation);
  const items = await readAll({ tables }, updatesTable, { pk, sk: { to: positionKey(position) } });
  for (let at = 0; at < items.length; at += DELETED_AT_ONCE) {
    const some = items.slice(at, at + DELETED_AT_ONCE);
    await tables.write(
      some.map(({ pk, sk }): Write => ({ op: "delete", table: updatesTable, key: { pk, sk } })),
    );
    const keys = some.flatMap(({ blob }) => (blob === undefined ? [] : [blob]));
    if (keys.length > 0) await blobs.delete(keys);
  }
}

/** Earlier generations whose logs are looked for. */
const GENERATIONS_BACK = 3;

/** Deletes the logs of generations that were replaced. */
export async function deleteReplacedLogs(
  deps: Pick<Ports, "tables" | "blobs">,
  { id, generation = 0 }: Pick<StoredDocument, "id" | "generation">,
): Promise<void> {
  const first = Math.max(0, generation - GENERATIONS_BACK);
  for (let replaced = first; replaced < generation; replaced += 1)
    await deleteEntries(deps, id, replaced, Number.MAX_SAFE_INTEGER);
}
