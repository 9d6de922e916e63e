import { ApiError } from "../../errors.ts";
import type { Ports } from "../../platform/ports.ts";
import { documentKey, documentsTable, type StoredDocument } from "../tables/documents.ts";
import { childIds } from "../tree/children.ts";

/** Maximum documents per copy. */
export const SUBTREE_MAX = 1_000;
/** Parents whose children are read concurrently. */
const AT_ONCE = 16;

/**
 * Reads a live document with all live descendants, parents first, siblings in order. Throws `bad_request` if there
 * are more than 1,000.
 */
export async function readSubtree(
  deps: Pick<Ports, "tables">,
  top: StoredDocument,
): Promise<StoredDocument[]> {
  const all = [top];
  for (let level = [top]; level.length > 0; ) {
    const below: StoredDocument[] = [];
    const parents = level.filter(({ numchild }) => numchild > 0);
    for (let at = 0; at < parents.length; at += AT_ONCE) {
      const found = await Promise.all(
        parents.slice(at, at + AT_ONCE).map((parent) => liveChildren(deps, parent.id)),
      );
      below.push(...found.flat());
      if (all.length + below.length > SUBTREE_MAX) throw tooMany();
    }
    all.push(...below);
    level = below;
  }
  return all;
}

async function liveChildren(deps: Pick<Ports, "tables">, id: string): Promise<StoredDocument[]> {
  const ids = await childIds(deps, id, SUBTREE_MAX);
  const children = await deps.tables.batchGet(documentsTable, ids.map(documentKey));
  // Excludes children that have moved since.
  return children.filter(({ parent, deleted_at }) => parent === id && deleted_at === null);
}

function tooMany(): ApiError {
  const message = `A copy is limited to ${SUBTREE_MAX} documents.`;
  return new ApiError("bad_request", message, { body: { with_descendants: [message] } });
}
