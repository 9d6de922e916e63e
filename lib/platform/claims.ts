/** Where names that were taken lie among the blobs, where they do; the bucket forgets them after a while. */
export const CLAIMS_PREFIX = "claims/";
/** Longer than a queue keeps the message that a name was taken for, days. */
export const CLAIMS_DAYS = 21;

/**
 * The claims port: names that are taken once. It is what executors of steps have instead of tables: who came
 * first, and whether the run is over.
 */
export interface Claims {
  /** True for the first who asks for the name, and for nobody after. Keys as those of blobs. */
  take(name: string): Promise<boolean>;
  isTaken(name: string): Promise<boolean>;
}
