import type { Write } from "../../platform/tables.ts";
import { authorize, readRelations } from "../authorization/document-access.ts";
import { type CommitDeps, commitChange } from "../changes/commit.ts";
import { sharedEvent } from "../events/document-event.ts";
import { adjustAccessCounts } from "../grants/grants.ts";
import { completeMoves } from "../grants/staged-accesses.ts";
import { hasVisitedAncestor } from "../lists/document-index.ts";
import type { ListDeps } from "../lists/list-documents.ts";
import { accessesTable, accessId, accessKey, relationKey, relationsTable } from "../tables/accesses.ts";
import { documentKey, documentsTable } from "../tables/documents.ts";
import type { StoredUser } from "../tables/users.ts";

type LeaveDeps = CommitDeps & ListDeps;

/** Documents per transaction: each takes three writes, plus an event and its delivery. */
const LEFT_AT_ONCE = 10;

/**
 * Removes the user's accesses and link traces on a document and its descendants; accesses on ancestors stay.
 * Favorites are removed if the user has no access on an ancestor. Descendants come first and the document last, so
 * that an interrupted call can be repeated. Throws `not_found`, `forbidden`. Reference 1.6.
 */
export async function leaveDocument(deps: LeaveDeps, user: StoredUser, id: string): Promise<void> {
  const { ancestors } = await authorize(deps, user, id, "leave");
  const above = [...(await readRelations(deps, user, ancestors)).values()];
  const flags: readonly Flag[] = above.some(({ role }) => role !== undefined)
    ? ["trace", "masked"]
    : ["trace", "masked", "favorite"];
  const below = await deps.documentLists.read(deps, async ({ index, rowsOf }) => {
    const { byDocument } = await rowsOf(user.id);
    await index.load(deps, [id]);
    const visit = index.newVisit();
    const top = index.get(id);
    if (top !== undefined) top.visit = visit;
    return [...byDocument].flatMap(([document, row]) =>
      row.document !== undefined && hasVisitedAncestor(row.document, visit) ? [document] : [],
    );
  });
  for (let from = 0; from < below.length; from += LEFT_AT_ONCE)
    await leaveEach(deps, user, below.slice(from, from + LEFT_AT_ONCE), flags);
  await leaveEach(deps, user, [id], flags);
}

type Flag = "trace" | "masked" | "favorite";

function leaveEach(
  deps: LeaveDeps,
  user: StoredUser,
  documents: readonly string[],
  flags: readonly Flag[],
): Promise<void> {
  return commitChange(deps, async () => {
    const keys = documents.map((document) => relationKey(user.id, document));
    const [relations, shared] = await Promise.all([
      deps.tables.batchGet(relationsTable, keys),
      deps.tables.batchGet(documentsTable, documents.map(documentKey)),
    ]);
    await completeMoves(deps, shared);
    const byId = new Map(shared.map((one) => [one.id, one]));
    const writes = relations.flatMap((relation): Write[] => {
      const { sk: document, role } = relation;
      const one = byId.get(document);
      if (one === undefined || (role === undefined && flags.every((visit) => relation[visit] !== true)))
        return [];
      const left: Write = {
        op: "update",
        table: relationsTable,
        key: relationKey(user.id, document),
        change: { remove: ["role", "since", ...flags] },
        when: [role === undefined ? ["role", "missing"] : ["role", "=", role]],
      };
      if (role === undefined) return [left];
      const access = accessKey(document, accessId(document, { user: user.id }));
      return [
        left,
        { op: "delete", table: accessesTable, key: access, when: [["role", "=", role]] },
        adjustAccessCounts(one, -1, role === "owner" ? -1 : 0),
      ];
    });
    const events = relations.flatMap(({ sk: document, role }) => {
      const one = byId.get(document);
      if (one === undefined || role === undefined) return [];
      return [sharedEvent(one, user, { user: user.id, team: null, role }, "taken")];
    });
    return { writes, events, result: undefined };
  });
}
