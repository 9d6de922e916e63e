import { createHmac, hash, randomBytes, timingSafeEqual } from "node:crypto";
import type { Ports } from "../../platform/ports.ts";
import type { Tables } from "../../platform/tables.ts";
import { SIGNING_KEY, serviceTable } from "./table.ts";

const KEY_BYTES = 32;

/** Read once per process: the key never changes. */
const keys = new WeakMap<Tables, Promise<string>>();

/** Signs a text with the installation's key (HMAC-SHA256), base64url. */
export async function sign(deps: Pick<Ports, "tables" | "clock">, text: string): Promise<string> {
  let key = keys.get(deps.tables);
  if (key === undefined) {
    key = readKey(deps);
    keys.set(deps.tables, key);
    key.catch(() => keys.delete(deps.tables));
  }
  return createHmac("sha256", await key)
    .update(text)
    .digest("base64url");
}

/** Created on first use. */
async function readKey(deps: Pick<Ports, "tables" | "clock">): Promise<string> {
  const stored = await deps.tables.get(serviceTable, SIGNING_KEY);
  if (stored?.key !== undefined) return stored.key;
  const key = randomBytes(KEY_BYTES).toString("base64url");
  const at = new Date(deps.clock.now()).toISOString();
  const kept = await deps.tables.update(serviceTable, SIGNING_KEY, { setIfMissing: { at, key } });
  return kept?.key ?? key;
}

/** Compares two texts in constant time. */
export function isSameText(one: string, other: string): boolean {
  return timingSafeEqual(hash("sha256", one, "buffer"), hash("sha256", other, "buffer"));
}
