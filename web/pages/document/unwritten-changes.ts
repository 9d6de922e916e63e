import type { IndexeddbPersistence } from "y-indexeddb";
import * as Y from "yjs";
import { fromBase64, toBase64 } from "../../../client/collaboration/base64.ts";
import { unwrittenKey } from "../../api/local-data.ts";

/** The store of y-indexeddb with the content. */
const UPDATES = "updates";

/**
 * Keeps changes of `content` that the database has not written when the page is left: its transactions end with the
 * page, and local storage is written at once. What an earlier page has left is added to `content`.
 */
export function keepUnwrittenChanges(persistence: IndexeddbPersistence, content: Y.Doc) {
  const key = unwrittenKey(persistence.name);
  const { db } = persistence;
  let unwritten: Uint8Array[] = [];
  /** Resolves when the database has written all changes so far. */
  const written = (): Promise<void> =>
    new Promise((resolve, reject) => {
      if (db === null) return resolve();
      // Transactions of a store run in order: this one is complete after those of the changes.
      const transaction = db.transaction(UPDATES, "readonly");
      transaction.objectStore(UPDATES).getKey(0);
      transaction.oncomplete = () => resolve();
      transaction.onabort = () => reject(transaction.error);
    });
  let isWaiting = false;
  const wait = async (): Promise<void> => {
    isWaiting = true;
    while (unwritten.length > 0) {
      const count = unwritten.length;
      await written();
      unwritten = unwritten.slice(count);
    }
    isWaiting = false;
  };
  const onUpdate = (update: Uint8Array, origin: unknown): void => {
    if (origin === persistence) return;
    unwritten.push(update);
    // A database that no longer writes: the changes stay here.
    if (!isWaiting) wait().catch(() => undefined);
  };
  const onPageHide = (): void => {
    if (unwritten.length === 0) return;
    const earlier = localStorage.getItem(key);
    const all = earlier === null ? unwritten : [fromBase64(earlier), ...unwritten];
    try {
      localStorage.setItem(key, toBase64(Y.mergeUpdates(all)));
    } catch {
      // The storage is full.
    }
  };
  content.on("update", onUpdate);
  addEventListener("pagehide", onPageHide);

  const left = localStorage.getItem(key);
  if (left !== null) {
    Y.applyUpdate(content, fromBase64(left));
    void written()
      // Another tab may have added to them.
      .then(() => localStorage.getItem(key) === left && localStorage.removeItem(key))
      .catch(() => undefined);
  }
  return {
    /** Whether an earlier page has left changes. */
    hadChanges: left !== null,
    close: (): void => {
      content.off("update", onUpdate);
      removeEventListener("pagehide", onPageHide);
    },
  };
}
