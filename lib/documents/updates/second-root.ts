import { type Doc, decodeUpdate, Item, XmlElement } from "yjs";
import { FRAGMENT } from "./seed.ts";

/** The only child of the fragment. Reference 4.1. */
const ROOT = "blockGroup";

/**
 * Whether an update adds a second root of blocks to a document. Editors show only one root, and hide what is in the
 * others: such an update comes from a client that has the content of an earlier generation, or that has created content
 * of its own. Throws for a malformed update.
 */
export function addsSecondRoot(doc: Doc, update: Uint8Array): boolean {
  const roots = doc.getXmlFragment(FRAGMENT).toArray();
  if (!roots.some((root) => root instanceof XmlElement && root.nodeName === ROOT)) return false;
  return decodeUpdate(update).structs.some((struct) => {
    if (!(struct instanceof Item) || struct.parent !== (FRAGMENT as unknown)) return false;
    const { type } = struct.content as { type?: unknown };
    const isKnown = (doc.store.clients.get(struct.id.client)?.at(-1)?.id.clock ?? -1) >= struct.id.clock;
    return !isKnown && type instanceof XmlElement && type.nodeName === ROOT;
  });
}
