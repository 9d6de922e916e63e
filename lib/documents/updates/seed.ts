import type * as Yjs from "yjs";

/** The Yjs fragment that editors write to. Reference 4.1. */
export const FRAGMENT = "document-store";
/** Client id of the seed's structs. Editors choose random ids, so the collision probability is negligible. */
const SEED_CLIENT = 1;

let seed: Uint8Array | undefined;

/**
 * The initial state of every document without content: one empty paragraph. If each editor created it, the document
 * would have several roots, of which editors show only one. It is the same bytes everywhere, so that it can be applied
 * by several processes.
 */
export function seedState(Y: typeof Yjs): Uint8Array {
  if (seed !== undefined) return seed;
  const doc = new Y.Doc();
  doc.clientID = SEED_CLIENT;
  doc.transact(() => {
    const group = new Y.XmlElement("blockGroup");
    const container = new Y.XmlElement("blockContainer");
    container.setAttribute("id", "initialBlockId");
    const paragraph = new Y.XmlElement("paragraph");
    container.insert(0, [paragraph]);
    group.insert(0, [container]);
    doc.getXmlFragment(FRAGMENT).insert(0, [group]);
  });
  seed = Y.encodeStateAsUpdate(doc);
  return seed;
}
