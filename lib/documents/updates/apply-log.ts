import * as Y from "yjs";
import type { LogEntry } from "./read-log.ts";
import { seedState } from "./seed.ts";

/**
 * Applies a log to a state (undefined: the seed of an empty document) and returns the result as one update. All updates
 * are applied in one transaction, which is many times faster than merging them. An update that Yjs cannot apply is left
 * out, although its structure was checked when it was appended: one client must not make a document unreadable.
 */
export function applyLog(base: Uint8Array | undefined, entries: readonly LogEntry[]): Uint8Array {
  return applyUpdates(
    base ?? seedState(Y),
    entries.flatMap((entry) => entry.updates),
  );
}

/** Like `applyLog`, without encoding the result. Throws if the state cannot be applied. */
export function openWithLog(base: Uint8Array | undefined, entries: readonly LogEntry[]): Y.Doc {
  const start = base ?? seedState(Y);
  const updates = entries.flatMap((entry) => entry.updates);
  try {
    return openState(start, updates);
  } catch {
    return openState(updates.reduce(applyOne, start), []);
  }
}

function openState(start: Uint8Array, updates: readonly Uint8Array[]): Y.Doc {
  const doc = new Y.Doc();
  doc.transact(() => {
    Y.applyUpdate(doc, start);
    for (const update of updates) Y.applyUpdate(doc, update);
  });
  return doc;
}

/** Applies updates to a state, like `applyLog`. */
export function applyUpdates(start: Uint8Array, updates: readonly Uint8Array[]): Uint8Array {
  try {
    return Y.encodeStateAsUpdate(openState(start, updates));
  } catch {
    return updates.reduce(applyOne, start);
  }
}

function applyOne(state: Uint8Array, update: Uint8Array): Uint8Array {
  try {
    const doc = new Y.Doc();
    Y.applyUpdate(doc, state);
    Y.applyUpdate(doc, update);
    return Y.encodeStateAsUpdate(doc);
  } catch {
    return state;
  }
}
