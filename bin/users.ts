import { UsageError } from "./errors.ts";

/** Services that a token or a session gives access to. */
export const SCOPES = ["automation", "documents"] as const;
export type Scope = (typeof SCOPES)[number];

const EMAIL = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;
const EMAIL_CHARS_MAX = 254;

/** Throws UsageError unless the value of `--email` is an address. */
export function checkEmail(email: string): void {
  if (!EMAIL.test(email) || email.length > EMAIL_CHARS_MAX)
    throw new UsageError(`--email must be an e-mail address, not '${email.slice(0, 100)}'.`);
}
