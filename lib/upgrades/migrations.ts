import type { Ports } from "../platform/ports.ts";
import { splitContent } from "./split-content.ts";

export type MigrationDeps = Pick<Ports, "tables" | "blobs" | "clock" | "log">;

/** Converts the stored data of an older release to the format of a newer one. */
export interface Migration {
  /** Unique. */
  readonly name: string;
  /** The release, of `RELEASES`, that introduces the format. */
  readonly release: string;
  /**
   * Migrates one batch, of about a second, from the given position or from the start. Returns the next position,
   * undefined after the last batch. Must be idempotent: a batch may be repeated, even after it was partly done.
   */
  migrateBatch(deps: MigrationDeps, position: string | undefined): Promise<string | undefined>;
}

/** All migrations; those of one release run in this order. */
export const MIGRATIONS: readonly Migration[] = [splitContent];
