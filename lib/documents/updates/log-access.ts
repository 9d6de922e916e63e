import type { RoomLease } from "../tables/room-leases.ts";
import type { LogEntry } from "./read-log.ts";

/** The content of a document for an editor. */
export interface CurrentContent {
  readonly generation: number;
  /** Position of the last update that it includes. */
  readonly position: number;
  /** One Yjs update (version 1 encoding); the seed if nothing was ever saved. */
  readonly state: Uint8Array;
}

/** Who appends an update. */
export interface Appender {
  /** Id of the user; null if anonymous. */
  readonly author: string | null;
  /** Number of runs that led to the edit. */
  readonly hop?: number;
  /** Passed to the listeners. */
  readonly origin?: unknown;
  /** Of the room whose client made the edit: it is appended only while this is the room's lease. */
  readonly lease?: RoomLease | undefined;
}

export interface LogListener {
  /**
   * Receives all entries after the position of the subscription, in order, each once: with the origins of its updates if
   * this process appended it, else without. Entries are on disk before. If other processes have compacted the log
   * meanwhile, one entry has the whole content as its update.
   */
  onEntry(entry: LogEntry, origins: readonly unknown[]): void;
  /** The content was replaced as a whole, or the document deleted: the log ends. */
  onEnd(): void;
}
