import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import { openDocument, type Seen, type SeenDeps, type Viewer } from "../authorization/document-access.ts";
import { type CommitDeps, commitChange } from "../changes/commit.ts";
import { tellLater } from "../events/updated-event.ts";
import { documentKey, documentsTable } from "../tables/documents.ts";
import type { UpdateBody } from "./body.ts";

export type UpdateDeps = CommitDeps & SeenDeps & Pick<Ports, "timers">;

/**
 * Changes what a document says of itself; what is not given stays, and where nothing is given nothing is saved. Throws
 * `not_found`, `unauthorized`, `forbidden`. Reference 1.2.
 */
export async function updateDocument(
  deps: UpdateDeps,
  viewer: Viewer,
  id: string,
  { title, excerpt }: UpdateBody,
): Promise<Seen> {
  const given = {
    ...(title === undefined ? {} : { title }),
    ...(excerpt === undefined ? {} : { excerpt }),
  };
  const edited = Object.keys(given) as (keyof typeof given)[];
  return commitChange(deps, async () => {
    const seen = await openDocument(deps, viewer, id, "partial_update");
    if (edited.length === 0) return { writes: [], events: [], result: seen };
    const { document } = seen;
    const set = { ...given, updated_at: new Date(deps.clock.now()).toISOString() };
    const told = await tellLater(deps, document, viewer, edited);
    const write: Write = {
      ...{ op: "update", table: documentsTable, key: documentKey(id) },
      change: { ...told.change, set: { ...told.change.set, ...set }, add: { revision: 1 } },
      when: [["pk", "exists"], ["deleted_at", "=", null], ...told.when],
    };
    const after = { ...document, ...set, revision: document.revision + 1 };
    return { writes: [write], events: [], result: { ...seen, document: after } };
  });
}
