import type { Ports } from "../../platform/ports.ts";
import {
  type AuthorizationDeps,
  authorize,
  type DocumentAccess,
  type Viewer,
} from "../authorization/document-access.ts";
import { withChangeRow } from "../changes/change-log.ts";
import { relationKey, relationsTable } from "../tables/accesses.ts";

/**
 * Returns a document and records that the user has opened it. Throws `not_found`, `unauthorized`, `forbidden`.
 * Reference 1.2.
 */
export async function readDocument(
  deps: AuthorizationDeps & Pick<Ports, "ids">,
  viewer: Viewer,
  id: string,
): Promise<DocumentAccess> {
  const access = await authorize(deps, viewer, id, "retrieve");
  if (viewer === undefined || access.relation?.trace === true) return access;
  const key = relationKey(viewer.id, id);
  const change = { set: { document: id, trace: true } } as const;
  await deps.tables.write(withChangeRow(deps, [{ op: "update", table: relationsTable, key, change }]));
  return access;
}
