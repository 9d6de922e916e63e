import type { Ports } from "../platform/ports.ts";
import { contentApart } from "./content-apart.ts";

export type MigrationDeps = Pick<Ports, "tables" | "blobs" | "clock" | "log">;

/** Brings what an older release has stored into the form of a newer one. */
export interface Migration {
  /** Unique. */
  readonly name: string;
  /** Of `RELEASES`: the one that stores it so. */
  readonly release: string;
  /**
   * A piece of the work, of a second or so: from where the last piece ended, or from the start. Answers where the next
   * one begins, undefined after the last. A piece may be done twice, and again after it was done in part.
   */
  piece(deps: MigrationDeps, place: string | undefined): Promise<string | undefined>;
}

/** All of them, those of a release in the order in which they are done. */
export const MIGRATIONS: readonly Migration[] = [contentApart];
