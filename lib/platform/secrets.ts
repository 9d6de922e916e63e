/** The secrets port: named values that workflows may use and nobody may read back. */
export interface Secrets {
  /** Undefined where there is none of that name. Throws code `secrets_unreadable` when the file may be read by others. */
  get(name: string): Promise<string | undefined>;
  /** The text with every known secret (in the forms that `createRedactor` names) replaced by `***`. */
  redact(text: string): string;
}

/** There are none. */
export const NO_SECRETS: Secrets = { get: async () => undefined, redact: (text) => text };
