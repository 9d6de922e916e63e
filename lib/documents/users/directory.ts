import { readAll } from "../../events/read-all.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import {
  DIRECTORY,
  DIRECTORY_VERSION,
  type DirectoryEntry,
  directoryKey,
  normalizeEmail,
  type StoredUser,
  userDirectoryTable,
} from "../tables/users.ts";
import { foldText, trigrams } from "./string-similarity.ts";

/** Users that a search looks at: of more, those with the first ids. By their exact address all are found. */
const DIRECTORY_MAX = 50_000;

/** A user as a search compares them: in small letters without accents. */
export interface DirectoryUser {
  readonly id: string;
  /** Empty where there is none. */
  readonly email: string;
  readonly domain: string;
  /** Of the address and of the name. */
  readonly trigrams: () => readonly [Uint32Array, Uint32Array];
}

export interface UserDirectory {
  /** Everybody, whether they may come in or not. */
  all(): Promise<readonly DirectoryUser[]>;
}

/** What a search knows of a user, who is new or has another address or name. */
export function planDirectoryEntry({ id, email, full_name }: StoredUser): Write[] {
  const table = userDirectoryTable;
  return [
    { op: "put", table, item: { ...directoryKey(id), email, full_name } },
    { op: "update", table, key: DIRECTORY_VERSION, change: { add: { version: 1 } } },
  ];
}

/** All users, read whole and kept for as long as none of them changes. */
export function userDirectory({ tables }: Pick<Ports, "tables">): UserDirectory {
  let kept: { readonly version: number; readonly all: Promise<readonly DirectoryUser[]> } | undefined;
  return {
    all: async () => {
      const version = (await tables.get(userDirectoryTable, DIRECTORY_VERSION))?.version ?? 0;
      if (kept?.version === version) return kept.all;
      // What is read may be newer than the version: it is read again then, which does no harm.
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
  const address = foldText(email ?? "");
  return {
    id,
    email: address,
    domain: domainOf(email ?? ""),
    trigrams: () => {
      known ??= [trigrams(address), trigrams(foldText(full_name ?? ""))];
      return known;
    },
  };
}

/** What stands after the last `@` of an address; empty without one. Letters that only look alike are not the same. */
export const domainOf = (email: string): string =>
  email.includes("@") ? normalizeEmail(email.slice(email.lastIndexOf("@") + 1)) : "";
