import { readAll } from "../../events/read-all.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Condition, Key, Write } from "../../platform/tables.ts";
import { type CommitDeps, commitChange } from "../changes/commit.ts";
import { accessesTable, type StoredAccess, stagedAccessesPartition } from "../tables/accesses.ts";
import { documentKey, documentsTable, type StoredDocument } from "../tables/documents.ts";
import { invitationsTable, planInvitationRemoval } from "../tables/invitations.ts";
import { planAccess } from "./grants.ts";
import { planAccessRemoval } from "./tree-change.ts";

/** Access rows per transaction: each row takes two of its 100 items. */
const ROWS_AT_ONCE = 40;

/**
 * Stores the accesses that a document will have after a move. They take effect when the document's `pending_move`
 * names the move. Returns a condition for the move: `discardStagedAccesses` has not removed them.
 */
export async function stageAccesses(
  { tables }: Pick<Ports, "tables">,
  document: string,
  moveId: string,
  accesses: readonly StoredAccess[],
): Promise<Write[]> {
  const pk = stagedAccessesPartition(document, moveId);
  const sorted = accesses.toSorted((one, other) => (one.sk < other.sk ? -1 : 1));
  for (let at = 0; at < sorted.length; at += ROWS_AT_ONCE) {
    const some = sorted.slice(at, at + ROWS_AT_ONCE);
    await tables.write(some.map((item) => ({ op: "put", table: accessesTable, item: { ...item, pk } })));
  }
  return sorted
    .slice(0, 1)
    .map(({ sk }) => ({ op: "check", table: accessesTable, key: { pk, sk }, when: [["pk", "exists"]] }));
}

/**
 * Removes accesses staged for a move that failed or is complete. The first deletion requires that the document does
 * not name the move, so the move cannot happen afterwards.
 */
export async function discardStagedAccesses(deps: CommitDeps, id: string, moveId: string): Promise<void> {
  const pk = stagedAccessesPartition(id, moveId);
  const [first] = (await deps.tables.query(accessesTable, { pk, limit: 1 })).items;
  if (first === undefined) return;
  const isOver = await commitChange(deps, async () => {
    const now = (await deps.tables.get(documentsTable, documentKey(id)))?.pending_move;
    if (now === moveId) return { writes: [], events: [], result: false };
    const when: Condition = now === undefined ? ["pending_move", "missing"] : ["pending_move", "=", now];
    return {
      writes: [
        { op: "check", table: documentsTable, key: documentKey(id), when: [when] },
        { op: "delete", table: accessesTable, key: { pk, sk: first.sk } },
      ],
      events: [],
      result: true,
    };
  });
  if (isOver) await removeStaged(deps, await readAll(deps, accessesTable, { pk }));
}

async function removeStaged({ tables }: Pick<Ports, "tables">, staged: readonly Key[]): Promise<void> {
  for (let at = 0; at < staged.length; at += ROWS_AT_ONCE) {
    const some = staged.slice(at, at + ROWS_AT_ONCE);
    await tables.write(some.map(({ pk, sk }) => ({ op: "delete", table: accessesTable, key: { pk, sk } })));
  }
}

/**
 * Replaces the accesses and invitations from before a move by the staged ones. Until then the staged accesses count
 * and the old rows do not, so this may be interrupted and repeated. Every change of accesses or invitations calls it
 * first.
 */
export async function completeMoves(deps: CommitDeps, documents: readonly StoredDocument[]): Promise<void> {
  for (const { id, pending_move: moveId } of documents)
    if (moveId !== undefined) await completeMove(deps, id, moveId);
}

async function completeMove(deps: CommitDeps, id: string, moveId: string): Promise<void> {
  const pk = stagedAccessesPartition(id, moveId);
  const [before, staged, invited] = await Promise.all([
    readAll(deps, accessesTable, { pk: id }),
    readAll(deps, accessesTable, { pk }),
    readAll(deps, invitationsTable, { pk: id }),
  ]);
  const kept = new Set(staged.map(({ sk }) => sk));
  const rows: readonly (readonly Write[])[] = [
    ...before.filter(({ sk }) => !kept.has(sk)).map((access) => planAccessRemoval(access)),
    ...staged.map((access) => planAccess({ ...access, pk: id })),
    ...invited.map(planInvitationRemoval),
  ];
  // Another process may have completed the move, and accesses may have been added since.
  const when = [["pending_move", "=", moveId]] as const;
  const key = documentKey(id);
  const isOpen: Write = { op: "check", table: documentsTable, key, when };
  for (let at = 0; at < rows.length; at += ROWS_AT_ONCE)
    if (!(await commitWhilePending(deps, id, moveId, [isOpen, ...rows.slice(at, at + ROWS_AT_ONCE).flat()])))
      return;
  const change = { remove: ["pending_move"] };
  await commitWhilePending(deps, id, moveId, [{ op: "update", table: documentsTable, key, change, when }]);
  await removeStaged(deps, staged);
}

/** Commits writes while the move is pending. Returns false if it is complete. */
function commitWhilePending(
  deps: CommitDeps,
  id: string,
  moveId: string,
  writes: readonly Write[],
): Promise<boolean> {
  return commitChange(deps, async () => {
    const isOpen = (await deps.tables.get(documentsTable, documentKey(id)))?.pending_move === moveId;
    return { writes: isOpen ? writes : [], events: [], result: isOpen };
  });
}
