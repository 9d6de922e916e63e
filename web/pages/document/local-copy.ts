import { IndexeddbPersistence } from "y-indexeddb";
import * as Y from "yjs";
import type { Document } from "../../api/documents.ts";
import { copyName, deleteCopies, listCopies } from "../../api/local-data.ts";
import { keepUnsentCount, openTabs, readUnsentCounts } from "./unsent-count.ts";
import { keepUnwrittenChanges } from "./unwritten-changes.ts";

/** Time to open a database, milliseconds. */
const OPEN_MS = 5_000;
/** A key beside the content. */
const RECORD = "record";

/** The content of a document on this device, which is updated as the document changes. */
export interface LocalCopy {
  readonly generation: number;
  /** Number of changes that were not on the server's disk when this tab, or one that was closed, last used the copy. */
  readonly unsent: number;
  readonly setUnsent: (count: number) => void;
  readonly setRecord: (record: Document) => void;
  readonly close: () => void;
}

/** Loads the copy of a document into `content`; undefined if there is none. */
export async function openLocalCopy(
  user: string,
  id: string,
  content: Y.Doc,
): Promise<LocalCopy | undefined> {
  const generation = await newestGeneration(user, id);
  return generation === undefined ? undefined : keepLocalCopy(user, id, generation, content);
}

/**
 * Keeps a copy of `content` from now on. Copies of other generations are deleted. Without a user, who could sign out,
 * nothing is kept.
 */
export async function keepLocalCopy(
  user: string,
  id: string,
  generation: number,
  content: Y.Doc,
): Promise<LocalCopy | undefined> {
  if (user === "") return undefined;
  try {
    const openBefore = await openTabs();
    const persistence = await open(copyName(user, id, generation), content);
    void deleteCopies((copy) => copy.user === user && copy.id === id && copy.generation !== generation);
    const unwritten = keepUnwrittenChanges(persistence, content);
    const unsent = await keepUnsentCount(persistence, openBefore);
    return {
      generation,
      unsent: unwritten.hadChanges ? Math.max(1, unsent.atStart) : unsent.atStart,
      setUnsent: unsent.set,
      setRecord: (record) => void persistence.set(RECORD, JSON.stringify(record)).catch(() => undefined),
      close: () => {
        unsent.close();
        unwritten.close();
        persistence.destroy().catch(() => undefined);
      },
    };
  } catch {
    // Private windows may have no storage: the document is then as live as without a copy.
    return undefined;
  }
}

/** What is known of a document whose copy is on this device; null if there is none. */
export async function readLocalRecord(user: string, id: string): Promise<Document | null> {
  const generation = await newestGeneration(user, id);
  if (generation === undefined) return null;
  const record = await readFrom(copyName(user, id, generation), (copy) => copy.get(RECORD));
  return typeof record === "string" ? (JSON.parse(record) as Document) : null;
}

/** Number of documents with changes on this device that the server does not have. */
export async function countUnsentDocuments(): Promise<number> {
  const counts = await Promise.all((await listCopies()).map(({ name }) => readFrom(name, readUnsentCounts)));
  return counts.filter(({ size }) => size > 0).length;
}

async function readFrom<Value>(
  name: string,
  read: (persistence: IndexeddbPersistence) => Promise<Value>,
): Promise<Value> {
  const persistence = await open(name, new Y.Doc());
  try {
    return await read(persistence);
  } finally {
    await persistence.destroy();
  }
}

/** Deletes the copies of a document, such as after its access was revoked. */
export const deleteLocalCopies = (user: string, id: string): Promise<void> =>
  deleteCopies((copy) => copy.user === user && copy.id === id);

/** Rejects if the storage does not respond in time: a document does not wait for it. */
async function open(name: string, content: Y.Doc): Promise<IndexeddbPersistence> {
  const persistence = new IndexeddbPersistence(name, content);
  try {
    await Promise.race([
      persistence.whenSynced,
      new Promise((_resolve, reject) => setTimeout(() => reject(new Error("no storage")), OPEN_MS)),
    ]);
  } catch (error) {
    persistence.destroy().catch(() => undefined);
    throw error;
  }
  return persistence;
}

async function newestGeneration(user: string, id: string): Promise<number | undefined> {
  const copies = (await listCopies()).filter((copy) => copy.user === user && copy.id === id);
  return copies.length === 0 ? undefined : Math.max(...copies.map(({ generation }) => generation));
}
