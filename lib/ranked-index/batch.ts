import type { Write } from "../platform/tables.ts";
import type { Entry, FieldChange, Row } from "./deltas.ts";

/** The additions and changes of one transaction. */
export interface IndexBatch {
  readonly entries: readonly Entry[];
  readonly changes?: readonly FieldChange[];
  /** Additional writes for an entry and its number, at most `writesEach`. */
  readonly entryWrites?: (entry: Entry, number: number) => readonly Write[];
  readonly writesEach?: number;
  /** Additional writes of the transaction. */
  readonly writes?: readonly Write[];
  /** Additional writes for the entries that the transaction adds, at most `addedWritesMax`. */
  readonly addedWrites?: (entries: readonly Entry[]) => readonly Write[];
  readonly addedWritesMax?: number;
  /**
   * `mergedUntil()` before the entries were found among records that leave their place once they are in the index. If
   * the index has been merged since, they may be in it: then nothing is written, as if conditions had failed.
   */
  readonly mergedBefore?: number;
  /** More records are waiting: larger merges cost less. */
  readonly isMoreWaiting?: boolean;
  /**
   * Called once records are visible in the index, before they leave its recent part; repeated if it is unknown whether
   * an earlier call completed.
   */
  readonly acknowledge?: (rows: readonly Row[]) => Promise<void>;
}

/** A record in the index. */
export interface NumberedRecord {
  readonly key: string;
  readonly number: number;
  /** False if it was in the index before. */
  readonly added: boolean;
}
