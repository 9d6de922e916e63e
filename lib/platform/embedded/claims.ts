import { hash } from "node:crypto";
import type { Claims } from "../claims.ts";

/**
 * Maximum number of names, some 2 MB; beyond it, the least recently requested ones are dropped. A step needs its names
 * until its message is deleted, and a finished run until its steps have ended.
 */
const NAMES_MAX = 30_000;

/**
 * Claims in memory: only this process claims names, and its pending messages are delivered and counted again after a
 * restart.
 */
export function embeddedClaims(namesMax: number = NAMES_MAX): Claims {
  const taken = new Set<string>();
  const has = (digest: string): boolean => {
    // Re-inserting makes the name the most recently used.
    if (!taken.delete(digest)) return false;
    taken.add(digest);
    return true;
  };
  return {
    take: async (name) => {
      const digest = digestOf(name);
      if (has(digest)) return false;
      taken.add(digest);
      const [oldest] = taken;
      if (taken.size > namesMax && oldest !== undefined) taken.delete(oldest);
      return true;
    },
    isTaken: async (name) => has(digestOf(name)),
  };
}

/** 16 bytes, which take less than half of the memory of a name. */
const digestOf = (name: string): string => hash("sha256", name, "buffer").toString("latin1", 0, 16);
