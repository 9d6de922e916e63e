/** The secrets port: named values that workflows use and that no API returns. */
export interface Secrets {
  /**
   * Undefined if there is no secret with this name. Throws code `secrets_unreadable` if other users may read the file.
   */
  get(name: string): Promise<string | undefined>;
  /** Replaces every known secret, in all forms that `createRedactor` lists, with `***`. */
  redact(text: string): string;
}

/** An empty set of secrets. */
export const NO_SECRETS: Secrets = { get: async () => undefined, redact: (text) => text };
