import { type Doc, decodeUpdate, findIndexSS, type Item } from "yjs";
import { EMPTY_UPDATE_BYTES } from "../documents/updates/yjs-update.ts";

/**
 * Whether a document already has everything in an update: each struct, and each deletion. Clients that reconnect send
 * what the server may lack, which contains all deletions even if there is nothing new. Throws for a malformed update.
 */
export function containsUpdate({ store }: Doc, update: Uint8Array): boolean {
  if (update.length <= EMPTY_UPDATE_BYTES) return true;
  const { structs, ds } = decodeUpdate(update);
  for (const { id, length } of structs) {
    const known = store.clients.get(id.client)?.at(-1);
    if (known === undefined || known.id.clock + known.length < id.clock + length) return false;
  }
  for (const [client, ranges] of ds.clients) {
    const known = store.clients.get(client);
    for (const { clock, len } of ranges) if (!isDeleted(known, clock, len)) return false;
  }
  return true;
}

type Structs = NonNullable<ReturnType<Doc["store"]["clients"]["get"]>>;

function isDeleted(structs: Structs | undefined, clock: number, length: number): boolean {
  const last = structs?.at(-1);
  const end = clock + length;
  if (structs === undefined || last === undefined || last.id.clock + last.length < end) return false;
  for (let at = findIndexSS(structs, clock); at < structs.length; at += 1) {
    const struct = structs[at] as Item;
    if (struct.id.clock >= end) return true;
    if (!struct.deleted) return false;
  }
  return true;
}
