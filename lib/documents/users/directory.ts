import { readAll } from "../../events/read-all.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import { fold } from "../fold.ts";
import {
  DIRECTORY,
  DIRECTORY_VERSION,
  type DirectoryEntry,
  directoryKey,
  normalizeEmail,
  type StoredUser,
  userDirectoryTable,
} from "../tables/users.ts";
import { trigrams } from "./string-similarity.ts";

/** Maximum users searched, by id. An exact email address finds every user. */
const DIRECTORY_MAX = 50_000;

/** A user as the search compares them: lower case, without accents. */
export interface DirectoryUser {
  readonly id: string;
  /** Empty if the user has no email address. */
  readonly email: string;
  readonly domain: string;
  /** Trigrams of the email address and of the name. */
  readonly trigrams: () => readonly [Uint32Array, Uint32Array];
}

export interface UserDirectory {
  /** Returns all users, including inactive ones. */
  all(): Promise<readonly DirectoryUser[]>;
}

/** Plans the directory entry of a user who is new or whose email address or name has changed. */
export function planDirectoryEntry({ id, email, full_name }: StoredUser): Write[] {
  const table = userDirectoryTable;
  return [
    { op: "put", table, item: { ...directoryKey(id), email, full_name } },
    { op: "update", table, key: DIRECTORY_VERSION, change: { add: { version: 1 } } },
  ];
}

/** Caches all users until one of them changes. */
export function userDirectory({ tables }: Pick<Ports, "tables">): UserDirectory {
  let kept: { readonly version: number; readonly all: Promise<readonly DirectoryUser[]> } | undefined;
  return {
    all: async () => {
      const version = (await tables.get(userDirectoryTable, DIRECTORY_VERSION))?.version ?? 0;
      if (kept?.version === version) return kept.all;
      // The entries may be newer than the version; the only effect is one more read.
      const reading = { version, all: readDirectory({ tables }) };
      kept = reading;
      reading.all.catch(() => {
        if (kept === reading) kept = undefined;
      });
      return reading.all;
    },
  };
}

async function readDirectory(deps: Pick<Ports, "tables">): Promise<readonly DirectoryUser[]> {
  const entries = await readAll(deps, userDirectoryTable, { pk: DIRECTORY });
  return entries.slice(0, DIRECTORY_MAX).map(toDirectoryUser);
}

function toDirectoryUser({ sk: id, email, full_name }: DirectoryEntry): DirectoryUser {
  let known: readonly [Uint32Array, Uint32Array] | undefined;
  const address = fold(email ?? "");
  return {
    id,
    email: address,
    domain: domainOf(email ?? ""),
    trigrams: () => {
      known ??= [trigrams(address), trigrams(fold(full_name ?? ""))];
      return known;
    },
  };
}

/**
 * Returns the domain of an email address, or an empty string. Only A to Z are lower-cased: letters that look alike
 * stay different.
 */
export const domainOf = (email: string): string =>
  email.includes("@") ? normalizeEmail(email.slice(email.lastIndexOf("@") + 1)) : "";
