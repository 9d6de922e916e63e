import { readAll } from "../../events/read-all.ts";
import type { Ports } from "../../platform/ports.ts";
import { CONFLICT, retryOnConflict } from "../../retry-on-conflict.ts";
import { documentNotFound } from "../authorization/document-access.ts";
import { documentKey, documentsTable, type StoredDocument } from "../tables/documents.ts";
import { positionKey, type StoredUpdates, updatesPartition, updatesTable } from "../tables/updates.ts";
import { type ContentKind, versionBlob } from "../tables/versions.ts";

export type LogDeps = Pick<Ports, "tables" | "blobs">;

/** Yjs updates that were appended together. */
export interface LogEntry {
  readonly position: number;
  /** In the order of their arrival. */
  readonly updates: readonly Uint8Array[];
  /** Size of the updates. */
  readonly bytes: number;
  /** Ids of their authors, each once; null for anonymous ones. */
  readonly authors: readonly (string | null)[];
  /** ISO 8601. */
  readonly at: string;
}

/** A document with the log entries that its latest version does not include. */
export interface DocumentWithLog {
  readonly document: StoredDocument;
  readonly entries: readonly LogEntry[];
}

/** Reads the entries of a log after a position. Throws if the bytes of one are missing. */
export async function readEntries(
  { tables, blobs }: LogDeps,
  document: string,
  generation: number,
  after: number,
): Promise<LogEntry[]> {
  const pk = updatesPartition(document, generation);
  const items = await readAll({ tables }, updatesTable, { pk, sk: { after: positionKey(after) } });
  return Promise.all(items.map((item) => readEntry({ blobs }, item)));
}

async function readEntry({ blobs }: Pick<LogDeps, "blobs">, item: StoredUpdates): Promise<LogEntry> {
  const { sk, updates, blob, bytes, authors, at } = item;
  const entry = { position: Number(sk), bytes, authors, at };
  if (blob === undefined) return { ...entry, updates };
  const update = await blobs.get(blob);
  if (update === undefined) throw new Error(`the update ${blob} is missing`);
  return { ...entry, updates: [update] };
}

/**
 * Reads a document's item and its log. Compaction first changes the item, then deletes entries: so the log is read
 * first, and what is missing in it is in the latest version. `known` is the item if the caller has just read it. Throws
 * `not_found`.
 */
export async function readDocumentWithLog(
  deps: LogDeps,
  id: string,
  known?: StoredDocument,
): Promise<DocumentWithLog> {
  const read = async (): Promise<StoredDocument> => {
    const document = await deps.tables.get(documentsTable, documentKey(id));
    if (document === undefined) throw documentNotFound();
    return document;
  };
  let document = known ?? (await read());
  return retryOnConflict(
    async () => {
      if (document.has_log !== true) return { document, entries: [] };
      const { generation = 0 } = document;
      const entries = await readEntries(deps, id, generation, 0);
      document = await read();
      if ((document.generation ?? 0) !== generation) return CONFLICT;
      const { position = 0 } = document.content ?? {};
      return { document, entries: entries.filter((entry) => entry.position > position) };
    },
    { exceeded: () => new Error(`the content of document ${id} is replaced again and again`) },
  );
}

/** A document's content as of a position of its log. */
export interface Content {
  readonly bytes: Uint8Array;
  readonly kind: ContentKind;
}

/**
 * The content of a document: its latest version with its log applied. Undefined if nothing was ever saved. Yjs is loaded
 * only if there is a log.
 */
export async function contentWithLog(
  deps: Pick<LogDeps, "blobs">,
  { document, entries }: DocumentWithLog,
): Promise<Content | undefined> {
  const { content: head } = document;
  if (head === undefined && entries.length === 0) return undefined;
  const base = await readLatestVersion(deps, document);
  if (base !== undefined && (entries.length === 0 || head?.kind === "plain"))
    return { bytes: base, kind: head?.kind ?? "yjs" };
  const { applyLog } = await import("./apply-log.ts");
  return { bytes: applyLog(base, entries), kind: "yjs" };
}

/** The bytes of the latest version; undefined if there is none. */
export async function readLatestVersion(
  { blobs }: Pick<LogDeps, "blobs">,
  { id, content }: StoredDocument,
): Promise<Uint8Array | undefined> {
  if (content === undefined) return undefined;
  const bytes = await blobs.get(versionBlob(id, content.version));
  if (bytes === undefined)
    throw new Error(`the bytes of version ${content.version} of document ${id} are missing`);
  return bytes;
}

/** The entity tag of the content: of its latest version, and of the log after it. */
export function contentEtag({ document: { content, generation = 0 }, entries }: DocumentWithLog): string {
  const last = entries.at(-1);
  const etag = content?.etag ?? "none";
  return last === undefined ? etag : `${etag}.${generation}.${last.position}`;
}

/** The content of a document that has none. */
export async function readSeed(): Promise<Uint8Array> {
  const [Y, { seedState }] = await Promise.all([import("yjs"), import("./seed.ts")]);
  return seedState(Y);
}
