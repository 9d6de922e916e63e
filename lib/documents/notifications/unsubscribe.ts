import { createHmac, hash, randomBytes, timingSafeEqual } from "node:crypto";
import * as z from "zod";
import type { Ports } from "../../platform/ports.ts";
import type { Tables } from "../../platform/tables.ts";
import {
  LINK_KEY,
  linkKeysTable,
  NOTIFICATION_KINDS,
  type NotificationKind,
} from "../tables/notifications.ts";
import type { StoredUser } from "../tables/users.ts";
import { findUser } from "../users/users.ts";
import { turnOffEmails } from "./settings.ts";

const KEY_BYTES = 32;
const TOKEN_MAX = 500;

export const UNSUBSCRIBE_PATH = "/notifications/unsubscribe";

/** What an unsubscribe link turns off. */
const linkContent = z.object({ user: z.guid(), kinds: z.array(z.enum(NOTIFICATION_KINDS)).min(1) });
type LinkContent = z.infer<typeof linkContent>;

export interface Unsubscription {
  readonly user: StoredUser;
  readonly kinds: readonly NotificationKind[];
}

/** Read once per process: the key never changes. */
const keys = new WeakMap<Tables, Promise<string>>();

/** Signs with the installation's key (HMAC-SHA256), base64url. */
async function sign({ tables }: Pick<Ports, "tables">, payload: string): Promise<string> {
  let key = keys.get(tables);
  if (key === undefined) {
    key = readKey(tables);
    keys.set(tables, key);
    key.catch(() => keys.delete(tables));
  }
  return createHmac("sha256", await key)
    .update(payload)
    .digest("base64url");
}

/** Created on first use. */
async function readKey(tables: Tables): Promise<string> {
  const key = randomBytes(KEY_BYTES).toString("base64url");
  const stored = await tables.update(linkKeysTable, LINK_KEY, { setIfMissing: { key } });
  return stored?.key ?? key;
}

/**
 * A token that turns off the emails of these kinds for a user, without a login. It does not expire: people unsubscribe
 * with old mails, too.
 */
export async function createUnsubscribeToken(
  deps: Pick<Ports, "tables">,
  user: string,
  kinds: Iterable<NotificationKind>,
): Promise<string> {
  const content: LinkContent = { user, kinds: [...new Set(kinds)].toSorted() };
  const payload = Buffer.from(JSON.stringify(content)).toString("base64url");
  return `${payload}.${await sign(deps, payload)}`;
}

/** What a token turns off; undefined if it is not valid, or its user does not exist. */
export async function readUnsubscribeToken(
  deps: Pick<Ports, "tables">,
  token: string,
): Promise<Unsubscription | undefined> {
  const [payload = "", signature = "", ...more] = token.slice(0, TOKEN_MAX + 1).split(".");
  if (token.length > TOKEN_MAX || payload === "" || more.length > 0) return undefined;
  if (!isSameText(signature, await sign(deps, payload))) return undefined;
  const { user: id, kinds } = linkContent.parse(
    JSON.parse(Buffer.from(payload, "base64url").toString("utf8")),
  );
  const user = await findUser(deps, id);
  return user === undefined ? undefined : { user, kinds };
}

/** Compares in constant time. */
const isSameText = (one: string, other: string): boolean =>
  timingSafeEqual(hash("sha256", one, "buffer"), hash("sha256", other, "buffer"));

/** Turns off the emails that a token names, and returns what it names; undefined if it is not valid. */
export async function unsubscribe(
  deps: Pick<Ports, "tables">,
  token: string,
): Promise<Unsubscription | undefined> {
  const found = await readUnsubscribeToken(deps, token);
  if (found !== undefined) await turnOffEmails(deps, found.user.id, found.kinds);
  return found;
}
