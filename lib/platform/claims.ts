/** Key prefix of claims, if they are stored as blobs; the bucket expires them. */
export const CLAIMS_PREFIX = "claims/";
/** Days; longer than a queue retains the message that a claim belongs to. */
export const CLAIMS_DAYS = 21;

/**
 * The claims port: names that can be claimed once. Step executors have no tables; claims tell them which delivery came
 * first and whether the run is finished.
 */
export interface Claims {
  /** True for the first caller with this name, false for all later ones. Names follow the rules of blob keys. */
  take(name: string): Promise<boolean>;
  isTaken(name: string): Promise<boolean>;
}
