import type { Claims } from "../claims.ts";

/**
 * Maximum number of names, some 4 MB; beyond it, the least recently requested ones are dropped. A step needs its names
 * until its message is deleted, and a finished run until its steps have ended.
 */
const NAMES_MAX = 30_000;

/**
 * Claims in memory: only this process claims names, and its pending messages are delivered and counted again after a
 * restart.
 */
export function embeddedClaims(namesMax: number = NAMES_MAX): Claims {
  const taken = new Set<string>();
  const has = (name: string): boolean => {
    // Re-inserting makes the name the most recently used.
    if (!taken.delete(name)) return false;
    taken.add(name);
    return true;
  };
  return {
    take: async (name) => {
      if (has(name)) return false;
      taken.add(copyOf(name));
      const [oldest] = taken;
      if (taken.size > namesMax && oldest !== undefined) taken.delete(oldest);
      return true;
    },
    isTaken: async (name) => has(name),
  };
}

/** V8 keeps a joined string's parts with it. */
const copyOf = (text: string): string => Buffer.from(text).toString();
