import {
  openDocument,
  type Seen,
  type SeenDeps,
  seenTogether,
  type Viewer,
} from "../authorization/document-access.ts";
import { documentKey, documentsTable } from "../tables/documents.ts";
import { lineOf } from "../tree/ancestors.ts";
import { childIds } from "../tree/children.ts";
import { bySibling, type Filters, fitting } from "./filter-and-sort.ts";
import { type ListDeps, type PageAsked, readPage } from "./list-documents.ts";

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

/**
 * A page of those children of a document whose titles fit, in their order, and how many there are. Throws `not_found`,
 * `unauthorized`, `forbidden`. Reference 1.3.
 */
export async function findChildren(
  deps: ListDeps,
  viewer: Viewer,
  id: string,
  { title, q, ...asked }: PageAsked & Pick<Filters, "title" | "q">,
): Promise<{ readonly count: number; readonly children: readonly Seen[] }> {
  await openDocument(deps, viewer, id, "children_list");
  const isShown = ({ abilities, deletedAt, document }: Seen): boolean =>
    abilities.retrieve && deletedAt === null && document.parent === id;
  const fits = fitting(viewer?.id, { title, q });
  const { count, seen } = await readPage(
    deps,
    viewer,
    asked,
    async ({ known }) => {
      await known.load(deps, [id]);
      const parent = known.get(id);
      if (parent === undefined) return [];
      if (!parent.hasLive) await known.loadChildren(deps, [parent], false);
      return [...parent.children].filter((child) => child.deletedAt === null && fits(child)).sort(bySibling);
    },
    isShown,
  );
  return { count, children: seen };
}
