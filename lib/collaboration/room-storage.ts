/** What a room does with an entry of a document's update log. */
export interface RoomLogEntry {
  /** In the order of their arrival. */
  readonly updates: readonly Uint8Array[];
}

export interface RoomLogListener {
  /** Receives each entry once, in order, of this process and of others; `origins` of its own updates. */
  onEntry(entry: RoomLogEntry, origins: readonly unknown[]): void;
  /** The content was replaced as a whole, or the document deleted; or another server has the room now. */
  onEnd(why?: "moved"): void;
}

/** The update log of one document, as a room uses it; `lib/documents/updates` has it. */
export interface RoomLogSource {
  readonly generation: number;
  /** The content as one Yjs update. Throws `conflict` for plain text. */
  read(): Promise<{ readonly state: Uint8Array }>;
  /**
   * Resolves when the update is on disk. Throws `bad_request` for an invalid update, `payload_too_large`, `not_found` for
   * a deleted document, and `precondition_failed` after a replacement.
   */
  append(
    update: Uint8Array,
    by: { readonly author: string | null; readonly origin?: unknown },
  ): Promise<unknown>;
  /** Returns a function that ends the subscription. */
  subscribe(listener: RoomLogListener): () => void;
  close(): void;
}

/** Opens the update logs of documents. */
export interface RoomStorage {
  /** Throws `not_found`. */
  open(document: string): Promise<RoomLogSource>;
}
