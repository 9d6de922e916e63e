import type { Document } from "@hocuspocus/server";
import { applyUpdate } from "yjs";
import type { Log } from "../platform/log.ts";
import { broadcastPromptly } from "./prompt-broadcast.ts";
import type { RoomLogEntry, RoomLogSource, RoomStorage } from "./room-storage.ts";

/** The origin of updates that are in the log already. */
const FROM_LOG = { source: "local", skipStoreHooks: true } as const;

/** Connects the Y.Doc of a room to the document's update log, until the room is unloaded. */
export class RoomLog {
  readonly generation: number;
  /** Resolves when the room is unloaded. */
  readonly closed: Promise<void>;
  /** The log has ended: no client may join this room any more. */
  hasEnded = false;
  readonly #document: Document;
  readonly #source: RoomLogSource;
  readonly #log: Log;

  private constructor(document: Document, source: RoomLogSource, log: Log) {
    this.generation = source.generation;
    this.#document = document;
    this.#source = source;
    this.#log = log;
    this.closed = new Promise((resolve) => document.once("destroy", () => resolve()));
  }

  /** Fills the document of a new room. Throws `not_found`. */
  static async open(
    storage: RoomStorage,
    document: Document,
    { log, onEnd }: { readonly log: Log; readonly onEnd: (why?: "moved") => void },
  ): Promise<RoomLog> {
    const source = await storage.open(document.name);
    const room = new RoomLog(document, source, log);
    // Subscribed before the content is read, so that nothing in between is missed.
    const unsubscribe = source.subscribe({
      onEntry: (entry, origins) => room.#apply(entry, origins),
      onEnd: (why) => {
        room.hasEnded = true;
        onEnd(why);
      },
    });
    try {
      const { state } = await source.read();
      applyUpdate(document, state, FROM_LOG);
      broadcastPromptly(document);
    } catch (error) {
      unsubscribe();
      source.close();
      throw error;
    }
    void room.closed.then(() => {
      unsubscribe();
      source.close();
    });
    return room;
  }

  /** Resolves when the update is on disk; Hocuspocus then applies it. Throws as `RoomLogSource.append` does. */
  async append(update: Uint8Array, author: string | null): Promise<void> {
    await this.#source.append(update, { author, origin: this });
  }

  /** Applies an update that is in the log and that Hocuspocus does not apply. */
  applyStored(update: Uint8Array): void {
    if (this.#document.isDestroyed) return;
    try {
      applyUpdate(this.#document, update, FROM_LOG);
    } catch (error) {
      this.#log.error("an update in the log could not be applied", { document: this.#document.name, error });
    }
  }

  #apply({ updates }: RoomLogEntry, origins: readonly unknown[]): void {
    for (const [at, update] of updates.entries()) if (origins[at] !== this) this.applyStored(update);
  }
}
