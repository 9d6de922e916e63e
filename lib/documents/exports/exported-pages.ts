import { ATTACHMENTS_FOLDER, fileNameOf, PAGE_EXTENSION } from "../../conversion/exported-tree.ts";
import { ApiError } from "../../errors.ts";
import {
  type AuthorizationDeps,
  type DocumentAccess,
  resolveSiblingAccesses,
} from "../authorization/document-access.ts";
import { documentKey, documentsTable } from "../tables/documents.ts";
import { ancestorsAndSelf } from "../tree/ancestors.ts";
import { childIds } from "../tree/children.ts";
import { UNTITLED } from "./linked-documents.ts";

/** Documents of one export. */
const PAGES_MAX = 10_000;

/** A document of an archive. */
export interface ExportedPage {
  readonly id: string;
  readonly title: string | null;
  /** Index among its siblings. */
  readonly position: number;
  /** Segments of its path in the archive. */
  readonly path: readonly string[];
}

/**
 * Lists the documents of the trees below these roots that the viewer may read, parents first. Throws `bad_request` if
 * there are too many.
 */
export async function listPages(
  deps: AuthorizationDeps,
  roots: readonly DocumentAccess[],
): Promise<ExportedPage[]> {
  const pages: ExportedPage[] = [];
  const rootNames = reservedNames();
  const waiting = roots.map((access, position) => ({
    access,
    position,
    folder: [] as readonly string[],
    names: rootNames,
  }));
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const { access, position, folder, names } = next;
    const { id, title, numchild } = access.document;
    const name = fileNameOf(title === null || title === "" ? UNTITLED : title, PAGE_EXTENSION, names);
    pages.push({ id, title, position, path: [...folder, `${name}${PAGE_EXTENSION}`] });
    if (numchild === 0) continue;
    const ids = await childIds(deps, id, PAGES_MAX + 1);
    if (pages.length + waiting.length + ids.length > PAGES_MAX)
      throw new ApiError("bad_request", `An export contains at most ${PAGES_MAX} documents.`);
    const documents = await deps.tables.batchGet(documentsTable, ids.map(documentKey));
    const children = await resolveSiblingAccesses(deps, access.viewer, documents, ancestorsAndSelf(access));
    const below = reservedNames();
    const readable = children.filter(
      ({ abilities, deletedAt }) => abilities.content_retrieve && deletedAt === null,
    );
    for (const [at, child] of readable.entries())
      waiting.push({ access: child, position: at, folder: [...folder, name], names: below });
  }
  return pages;
}

/** Names that no document has: the import reads files from folders with these names, on every level. */
const reservedNames = (): Set<string> =>
  new Set([ATTACHMENTS_FOLDER, "uploads"].map((name) => `${name}${PAGE_EXTENSION}`));
