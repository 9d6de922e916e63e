import {
  type AuthorizationDeps,
  accessDenied,
  type DocumentAccess,
  documentNotFound,
  evaluateAccess,
  isPastTrashCutoff,
  readRelations,
  type Viewer,
} from "../authorization/document-access.ts";
import { documentKey, documentsTable, type StoredDocument } from "../tables/documents.ts";
import { ancestorsAndSelf, type DocumentNode, findDeletedAt, readNode } from "../tree/ancestors.ts";
import { childIds } from "../tree/children.ts";

/** A document, with its children if its branch is expanded. */
export interface Branch {
  readonly access: DocumentAccess;
  readonly children: readonly Branch[];
}

/** Maximum documents in a tree; further children are available from the children endpoint. */
export const NODES_MAX = 2_500;

/**
 * Reads the tree around a document: from the topmost ancestor that the viewer may read down to the document, with the
 * children of each. The owner of a deleted document gets it with the children deleted with it. Throws `not_found`,
 * `unauthorized`, `forbidden`. Reference 1.3.
 */
export async function readTree(deps: AuthorizationDeps, viewer: Viewer, id: string): Promise<Branch> {
  const node = await readNode(deps, id);
  if (node === undefined) throw documentNotFound();
  const at = findDeletedAt(node);
  if (at !== null && isPastTrashCutoff(deps, at)) throw documentNotFound();
  const line = ancestorsAndSelf(node);
  const children = await readChildrenOfEach(deps, at === null ? line : [node.document]);
  const relations = await readRelations(deps, viewer, [...line, ...children.flat()]);
  const see = (one: DocumentNode): DocumentAccess => evaluateAccess(deps, viewer, one, relations);

  const onTheWay = line.map((document, level) => see({ document, ancestors: line.slice(0, level) }));
  const access = onTheWay.at(-1);
  if (access?.abilities.tree !== true) throw accessDenied(viewer);
  if (at !== null) {
    const own = children.flat().map((document) => see({ document, ancestors: line }));
    return { access, children: own.map((one) => ({ access: one, children: [] })) };
  }
  const top = onTheWay.findIndex(({ abilities }) => abilities.tree);
  const branchOf = (level: number, self: DocumentAccess): Branch => {
    const ancestors = line.slice(0, level + 1);
    const next = onTheWay[level + 1];
    return {
      access: self,
      children: (children[level] ?? []).map((document) =>
        next !== undefined && document.id === next.document.id
          ? branchOf(level + 1, next)
          : { access: see({ document, ancestors }), children: [] },
      ),
    };
  };
  return branchOf(top, onTheWay[top] ?? access);
}

/**
 * Reads the live children of each document on the path, in order. The next document of the path is always included.
 */
async function readChildrenOfEach(
  deps: AuthorizationDeps,
  line: readonly StoredDocument[],
): Promise<StoredDocument[][]> {
  const found = await Promise.all(
    line.map(({ id, numchild }) => (numchild === 0 ? [] : childIds(deps, id, NODES_MAX))),
  );
  const most = shareEvenly(found.map(({ length }) => length));
  const onTheWay = new Map(line.map((document) => [document.id, document]));
  const kept = found.map((ids, level) => {
    const next = line[level + 1]?.id;
    const first = ids.slice(0, most);
    return next === undefined || first.includes(next) ? first : [...first, next];
  });
  const wanted = kept.flat().filter((id) => !onTheWay.has(id));
  const read = await deps.tables.batchGet(documentsTable, wanted.map(documentKey));
  const documents = new Map([...onTheWay, ...read.map((one) => [one.id, one] as const)]);
  return kept.map((ids, level) =>
    ids.flatMap((id) => {
      const document = documents.get(id);
      // Excludes children that have moved since.
      const isHere = document?.parent === line[level]?.id && document?.deleted_at === null;
      return isHere && document !== undefined ? [document] : [];
    }),
  );
}

/** Returns the maximum length per list, so that the longest lists are shortened first. */
function shareEvenly(lengths: readonly number[]): number {
  let room = NODES_MAX;
  const sorted = lengths.toSorted((one, other) => one - other);
  for (const [at, length] of sorted.entries()) {
    const share = Math.floor(room / (sorted.length - at));
    if (length > share) return share;
    room -= length;
  }
  return NODES_MAX;
}
