import type { LinkedDocument } from "../../platform/renderer.ts";
import { type AuthorizationDeps, resolveAccesses, type Viewer } from "../authorization/document-access.ts";
import { documentKey, documentsTable } from "../tables/documents.ts";

/** Other documents that a document may name with their current titles. */
const LINKED_MAX = 500;
const UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";
/** An interlink of the editor, or a link to the page of a document. */
const REFERENCE = new RegExp(`(?:"docId":"|/docs/)(${UUID})`, "gi");

/** The documents that the blocks link to and the viewer may read, by id: titles of others are not revealed. */
export async function readLinkedDocuments(
  deps: AuthorizationDeps,
  viewer: Viewer,
  blocks: string,
  baseUrl: string,
): Promise<Map<string, LinkedDocument>> {
  const ids = new Set<string>();
  for (const [, id = ""] of blocks.matchAll(REFERENCE)) {
    ids.add(id.toLowerCase());
    if (ids.size === LINKED_MAX) break;
  }
  if (ids.size === 0) return new Map();
  const documents = await deps.tables.batchGet(documentsTable, [...ids].map(documentKey));
  const { accesses } = await resolveAccesses(deps, viewer, documents);
  return new Map(
    accesses
      .filter(({ abilities, deletedAt }) => abilities.retrieve && deletedAt === null)
      .map(({ document: { id, title } }) => [
        id,
        { title: title === null || title === "" ? UNTITLED : title, url: `${baseUrl}/docs/${id}/` },
      ]),
  );
}

/** The title of a document without one. */
export const UNTITLED = "Untitled document";
