import type { Claims } from "../claims.ts";

/** Names that are kept; of more, those that were asked for longest ago are forgotten. */
const NAMES_MAX = 100_000;

/**
 * In memory: the process that takes a name is the only one there is, and whatever it held is delivered anew,
 * and counted, after a restart.
 */
export function embeddedClaims(namesMax: number = NAMES_MAX): Claims {
  const taken = new Set<string>();
  const has = (name: string): boolean => {
    // What is asked for again is still of interest.
    if (!taken.delete(name)) return false;
    taken.add(name);
    return true;
  };
  return {
    take: async (name) => {
      if (has(name)) return false;
      taken.add(name);
      const [oldest] = taken;
      if (taken.size > namesMax && oldest !== undefined) taken.delete(oldest);
      return true;
    },
    isTaken: async (name) => has(name),
  };
}
