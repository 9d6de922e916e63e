import type { PageRequest } from "../../http/page.ts";
import {
  type AuthorizationDeps,
  authorize,
  type DocumentAccess,
  resolveSiblingAccesses,
  type Viewer,
} from "../authorization/document-access.ts";
import { documentKey, documentsTable } from "../tables/documents.ts";
import { ancestorsAndSelf } from "../tree/ancestors.ts";
import { childIds } from "../tree/children.ts";
import { compareSiblings, type Filters, matchesFilters } from "./filter-and-sort.ts";
import { type ListDeps, readPage } from "./list-documents.ts";

/**
 * Lists a page of a document's live children in order, and their total count. Throws `not_found`, `unauthorized`,
 * `forbidden`. Reference 1.3.
 */
export async function listChildren(
  deps: AuthorizationDeps,
  viewer: Viewer,
  id: string,
  { offset, limit }: PageRequest,
): Promise<{ readonly count: number; readonly children: readonly DocumentAccess[] }> {
  const parent = await authorize(deps, viewer, id, "children_list");
  const ids = (await childIds(deps, id, offset + limit)).slice(offset);
  const documents = await deps.tables.batchGet(documentsTable, ids.map(documentKey));
  return {
    count: parent.document.numchild,
    children: await resolveSiblingAccesses(deps, viewer, documents, ancestorsAndSelf(parent)),
  };
}

/**
 * Lists a page of a document's live children with matching titles in order, and their total count. Throws
 * `not_found`, `unauthorized`, `forbidden`. Reference 1.3.
 */
export async function findChildren(
  deps: ListDeps,
  viewer: Viewer,
  id: string,
  { title, q, ...asked }: PageRequest & Pick<Filters, "title" | "q">,
): Promise<{ readonly count: number; readonly children: readonly DocumentAccess[] }> {
  await authorize(deps, viewer, id, "children_list");
  const isShown = ({ abilities, deletedAt, document }: DocumentAccess): boolean =>
    abilities.retrieve && deletedAt === null && document.parent === id;
  const fits = matchesFilters(viewer?.id, { title, q });
  const { count, accesses } = await readPage(
    deps,
    viewer,
    asked,
    async ({ index }) => {
      await index.load(deps, [id]);
      const parent = index.get(id);
      if (parent === undefined) return [];
      if (!parent.hasLive) await index.loadChildren(deps, [parent], false);
      return [...parent.children]
        .filter((child) => child.deletedAt === null && fits(child))
        .sort(compareSiblings);
    },
    isShown,
  );
  return { count, children: accesses };
}
