import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import {
  type AuthorizationDeps,
  authorize,
  type DocumentAccess,
  type Viewer,
} from "../authorization/document-access.ts";
import { type CommitDeps, commitChange } from "../changes/commit.ts";
import { scheduleUpdatedEvent } from "../events/updated-event.ts";
import { documentKey, documentsTable } from "../tables/documents.ts";
import type { UpdateBody } from "./body.ts";

export type UpdateDeps = CommitDeps & AuthorizationDeps & Pick<Ports, "timers">;

/**
 * Updates a document's fields. Without fields it saves nothing. Throws `not_found`, `unauthorized`, `forbidden`.
 * Reference 1.2.
 */
export async function updateDocument(
  deps: UpdateDeps,
  viewer: Viewer,
  id: string,
  { title, excerpt }: UpdateBody,
): Promise<DocumentAccess> {
  const given = {
    ...(title === undefined ? {} : { title }),
    ...(excerpt === undefined ? {} : { excerpt }),
  };
  const edited = Object.keys(given) as (keyof typeof given)[];
  return commitChange(deps, async () => {
    const access = await authorize(deps, viewer, id, "partial_update");
    if (edited.length === 0) return { writes: [], events: [], result: access };
    const { document } = access;
    const set = { ...given, updated_at: new Date(deps.clock.now()).toISOString() };
    const pending = await scheduleUpdatedEvent(deps, document, viewer, edited);
    const write: Write = {
      op: "update",
      table: documentsTable,
      key: documentKey(id),
      change: { ...pending.change, set: { ...pending.change.set, ...set }, add: { revision: 1 } },
      when: [["pk", "exists"], ["deleted_at", "=", null], ...pending.when],
    };
    const after = { ...document, ...set, revision: document.revision + 1 };
    return { writes: [write], events: [], result: { ...access, document: after } };
  });
}
