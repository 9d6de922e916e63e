import { applyUpdate, Doc, decodeUpdate, encodeStateAsUpdate, mergeUpdates } from "yjs";
import { ApiError } from "../errors.ts";
import type { RoomLogEntry, RoomLogListener, RoomLogSource, RoomStorage } from "./room-storage.ts";

interface StoredEntry extends RoomLogEntry {
  readonly author: string | null;
}

interface StoredLog {
  generation: number;
  entries: StoredEntry[];
  readonly listeners: Set<RoomLogListener>;
}

/** Update logs in memory, for tests. */
export class MemoryRoomStorage implements RoomStorage {
  readonly #logs = new Map<string, StoredLog>();
  /** Called before each append; may wait or throw. */
  beforeAppend: (document: string, update: Uint8Array) => Promise<void> = async () => {};
  /** Logs that are open now. */
  opened = 0;

  async open(document: string): Promise<RoomLogSource> {
    const log = this.#logOf(document);
    const { generation } = log;
    this.opened += 1;
    return {
      generation,
      read: async () => ({ state: this.state(document) }),
      append: async (update, { author, origin }) => {
        await this.beforeAppend(document, update);
        if (log.generation !== generation)
          throw new ApiError("precondition_failed", "The content has been replaced");
        return this.write(document, update, author, origin);
      },
      subscribe: (listener) => {
        log.listeners.add(listener);
        return () => log.listeners.delete(listener);
      },
      close: () => {
        this.opened -= 1;
      },
    };
  }

  /** Appends as any writer. */
  write(document: string, update: Uint8Array, author: string | null = null, origin?: unknown): void {
    try {
      decodeUpdate(update);
    } catch {
      throw new ApiError("bad_request", "update: must be a Yjs update");
    }
    const log = this.#logOf(document);
    const entry = { updates: [update], author };
    log.entries.push(entry);
    for (const { onEntry } of log.listeners) onEntry(entry, [origin]);
  }

  /** Replaces the content, which starts a new generation. */
  replace(document: string): void {
    const log = this.#logOf(document);
    log.generation += 1;
    log.entries = [];
    for (const { onEnd } of [...log.listeners]) onEnd();
  }

  entries(document: string): readonly StoredEntry[] {
    return this.#logOf(document).entries;
  }

  state(document: string): Uint8Array {
    const updates = this.entries(document).flatMap((entry) => entry.updates);
    return updates.length === 0 ? encodeStateAsUpdate(new Doc()) : mergeUpdates(updates);
  }

  /** The text of the root type `text`. */
  text(document: string): string {
    const doc = new Doc();
    applyUpdate(doc, this.state(document));
    return doc.getText("text").toString();
  }

  #logOf(document: string): StoredLog {
    const known = this.#logs.get(document) ?? { generation: 1, entries: [], listeners: new Set() };
    this.#logs.set(document, known);
    return known;
  }
}
