import { hash, hkdfSync, randomBytes } from "node:crypto";
import type { Ports } from "../../platform/ports.ts";
import {
  LOGIN_STATES,
  loginStateKey,
  loginStatesTable,
  type StoredLoginState,
} from "../tables/login-states.ts";

/** Time to sign in at the provider. */
export const LOGIN_STATE_SECONDS = 600;
/** Expired rows that each new row deletes, so that they do not accumulate. */
const SWEPT_MAX = 10;

type Deps = Pick<Ports, "tables" | "clock">;

const SECRET = /^[\w-]{43}$/;
const randomText = (): string => randomBytes(32).toString("base64url");

/**
 * Returns the secret of a browser, which its login cookie contains: the one that it has, so that it may sign in in
 * several tabs, or a new one.
 */
export const browserSecret = (cookie: string | undefined): string =>
  cookie !== undefined && SECRET.test(cookie) ? cookie : randomText();

/**
 * Stores a new `state` parameter for a browser, for ten minutes. Only hashes are stored: whoever reads the table can
 * neither use a state nor impersonate the browser.
 */
export async function createLoginState(
  { tables, clock }: Deps,
  kind: "login" | "logout",
  browser: string,
  fields: Pick<StoredLoginState, "next" | "is_silent"> = {},
): Promise<string> {
  await deleteExpired({ tables, clock });
  const state = randomText();
  await tables.write([
    {
      op: "put",
      table: loginStatesTable,
      item: {
        ...loginStateKey(kind, state),
        ...fields,
        ...expiry(clock, LOGIN_STATE_SECONDS),
        browser: hashed(browser),
      },
    },
  ]);
  return state;
}

/** Returns and deletes the row of a `state`; undefined if it is unknown, expired, used, or of another browser. */
export async function useLoginState(
  { tables, clock }: Deps,
  kind: "login" | "logout",
  browser: string | undefined,
  state: string | undefined,
): Promise<StoredLoginState | undefined> {
  if (state === undefined || browser === undefined) return undefined;
  const key = loginStateKey(kind, state);
  const found = await tables.get(loginStatesTable, key);
  // Both are hashes, so the time of the comparison reveals nothing.
  if (found === undefined || found.browser !== hashed(browser) || isExpired(found, clock)) return undefined;
  const deletion = { op: "delete", table: loginStatesTable, key, when: [["pk", "exists"]] } as const;
  return (await tables.write([deletion])).ok ? found : undefined;
}

export async function isLogoutTokenUsed({ tables, clock }: Deps, id: string): Promise<boolean> {
  const found = await tables.get(loginStatesTable, loginStateKey("logout-token", id));
  return found !== undefined && !isExpired(found, clock);
}

/** Remembers that a logout token was used. */
export async function recordLogoutToken({ tables, clock }: Deps, id: string, seconds: number): Promise<void> {
  const item = { ...loginStateKey("logout-token", id), ...expiry(clock, seconds) };
  await tables.write([{ op: "put", table: loginStatesTable, item }]);
}

/**
 * Derives a further secret of a login from the browser's secret and the state, so that it need not be stored: the nonce
 * and the code verifier. It has this number of characters.
 */
export function deriveSecret(browser: string, state: string, purpose: string, length: number): string {
  const bytes = hkdfSync("sha256", browser, state, purpose, Math.ceil((length * 3) / 4));
  return Buffer.from(bytes).toString("base64url").slice(0, length);
}

async function deleteExpired({ tables, clock }: Deps): Promise<void> {
  const to = new Date(clock.now()).toISOString();
  const query = { index: "expires", pk: LOGIN_STATES, sk: { to }, limit: SWEPT_MAX };
  const { items } = await tables.query(loginStatesTable, query);
  // One by one: a concurrent login may delete the same rows.
  for (const { pk, sk } of items)
    await tables.write([{ op: "delete", table: loginStatesTable, key: { pk, sk } }]);
}

const hashed = (secret: string): string => hash("sha256", secret, "hex");

const expiry = (
  clock: Ports["clock"],
  seconds: number,
): Pick<StoredLoginState, "expires" | "expires_at"> => ({
  expires: LOGIN_STATES,
  expires_at: new Date(clock.now() + seconds * 1000).toISOString(),
});

const isExpired = ({ expires_at }: StoredLoginState, clock: Ports["clock"]): boolean =>
  Date.parse(expires_at) <= clock.now();
