import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import { denied, openDocument, type Seen, type SeenDeps, type Viewer } from "../access/seen.ts";
import { noted } from "../lists/changes.ts";
import { documentKey, documentsTable } from "../tree/table.ts";
import type { UpdateBody } from "./body.ts";

/**
 * Changes what a document says of itself; what is not given stays, and where nothing is given nothing is saved. Throws
 * `not_found`, `unauthorized`, `forbidden`. Reference 1.2.
 */
export async function updateDocument(
  deps: SeenDeps & Pick<Ports, "ids">,
  viewer: Viewer,
  id: string,
  { title, excerpt }: UpdateBody,
): Promise<Seen> {
  const seen = await openDocument(deps, viewer, id, "partial_update");
  const given = Object.fromEntries(
    Object.entries({ title, excerpt }).filter(([, value]) => value !== undefined),
  );
  if (Object.keys(given).length === 0) return seen;
  const set = { ...given, updated_at: new Date(deps.clock.now()).toISOString() };
  const change: Write = {
    ...{ op: "update", table: documentsTable, key: documentKey(id) },
    change: { set, add: { revision: 1 } },
    when: [
      ["pk", "exists"],
      ["deleted_at", "=", null],
    ],
  };
  if (!(await deps.tables.write(noted(deps, [change]))).ok) throw denied(viewer);
  return { ...seen, document: { ...seen.document, ...set, revision: seen.document.revision + 1 } };
}
