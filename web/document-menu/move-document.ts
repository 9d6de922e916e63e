import { api } from "../api/client.ts";
import type { Document } from "../api/documents.ts";

export type Position = "first-child" | "last-child" | "last-sibling" | "left" | "right";

/** A place relative to a document. */
export interface Place {
  readonly target: Pick<Document, "id" | "path">;
  readonly position: Position;
}

/** The part of a path that names the tree. */
const ROOT_LENGTH = 7;

export const moveDocument = (id: string, { target, position }: Place): Promise<unknown> =>
  api.POST("/api/v1.0/documents/{id}/move", {
    params: { path: { id } },
    body: { target_document_id: target.id, position },
  });

/** Whether a place is in the same tree, where a document keeps its own accesses. */
export const isSameTree = ({ path }: Pick<Document, "path">, { target, position }: Place): boolean =>
  path.length > ROOT_LENGTH &&
  path.slice(0, ROOT_LENGTH) === target.path.slice(0, ROOT_LENGTH) &&
  (target.path.length > ROOT_LENGTH || position.endsWith("child"));

/** Whether others than the user lose or get access by the move, so that it is confirmed. */
export function endsAccesses(document: Document, place: Place): boolean {
  const own = document.path.length > ROOT_LENGTH ? 0 : 1;
  return document.nb_accesses_direct > own && !isSameTree(document, place);
}
