import { openDocument, type Seen, type SeenDeps, seenTogether, type Viewer } from "../access/seen.ts";
import { lineOf } from "../tree/chain.ts";
import { childrenOf, childrenTable, documentKey, documentsTable } from "../tree/table.ts";

/** Children read in one query. */
const READ_AT_ONCE = 1_000;

/**
 * A page of the children of a document that are not deleted, in their order, and how many there are. Throws `not_found`,
 * `unauthorized`, `forbidden`. Reference 1.3.
 */
export async function listChildren(
  deps: SeenDeps,
  viewer: Viewer,
  id: string,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Promise<{ readonly count: number; readonly children: readonly Seen[] }> {
  const parent = await openDocument(deps, viewer, id, "children_list");
  const ids = (await childIds(deps, id, offset + limit)).slice(offset);
  const documents = await deps.tables.batchGet(documentsTable, ids.map(documentKey));
  return {
    count: parent.document.numchild,
    children: await seenTogether(deps, viewer, documents, lineOf(parent)),
  };
}

/** Ids of the first children that are not deleted, in their order. */
export async function childIds(
  { tables }: Pick<SeenDeps, "tables">,
  parent: string,
  most: number,
): Promise<string[]> {
  const ids: string[] = [];
  let after: string | undefined;
  while (ids.length < most) {
    const limit = Math.min(READ_AT_ONCE, most - ids.length);
    const query = { pk: childrenOf(parent), limit, ...(after === undefined ? {} : { sk: { after } }) };
    const { items } = await tables.query(childrenTable, query);
    for (const item of items) ids.push(item.id);
    after = items.at(-1)?.sk;
    if (items.length < limit) break;
  }
  return ids;
}
