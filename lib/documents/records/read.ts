import type { Ports } from "../../platform/ports.ts";
import { openDocument, type Seen, type SeenDeps, type Viewer } from "../authorization/document-access.ts";
import { noted } from "../changes/change-log.ts";
import { relationKey, relationsTable } from "../tables/accesses.ts";

/**
 * A document for somebody who opens it; whoever has a name is remembered to have been there. Throws `not_found`,
 * `unauthorized`, `forbidden`. Reference 1.2.
 */
export async function readDocument(
  deps: SeenDeps & Pick<Ports, "ids">,
  viewer: Viewer,
  id: string,
): Promise<Seen> {
  const seen = await openDocument(deps, viewer, id, "retrieve");
  if (viewer === undefined || seen.relation?.trace === true) return seen;
  const key = relationKey(viewer.id, id);
  const change = { set: { document: id, trace: true } } as const;
  await deps.tables.write(noted(deps, [{ op: "update", table: relationsTable, key, change }]));
  return seen;
}
