import { readAll } from "../../events/read-all.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Condition, Key, Write } from "../../platform/tables.ts";
import { type CommitDeps, commitChange } from "../changes/commit.ts";
import { accessesTable, type StoredAccess, stagedAccesses } from "../tables/accesses.ts";
import { documentKey, documentsTable, type StoredDocument } from "../tables/documents.ts";
import { invitationsTable, planUninvite } from "../tables/invitations.ts";
import { planBequest, planRevocation } from "./tree-change.ts";

/** Rows that are written in one transaction, which has 100 items: a row of access is two of them. */
const ROWS_AT_ONCE = 40;

/**
 * Stores the accesses that a document will have once it has moved, where nobody looks for them until the document names
 * the move (`moving`). Answers what the move has as a condition: that `sweepStaged` has not taken them away.
 */
export async function stageAccesses(
  { tables }: Pick<Ports, "tables">,
  document: string,
  moving: string,
  accesses: readonly StoredAccess[],
): Promise<Write[]> {
  const pk = stagedAccesses(document, moving);
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
 * Removes the accesses that were stored for a move which did not happen, or which is settled. The first of them goes
 * under the condition that the document does not name the move, so the move cannot happen any more.
 */
export async function sweepStaged(deps: CommitDeps, id: string, moving: string): Promise<void> {
  const pk = stagedAccesses(id, moving);
  const [first] = (await deps.tables.query(accessesTable, { pk, limit: 1 })).items;
  if (first === undefined) return;
  const isOver = await commitChange(deps, async () => {
    const now = (await deps.tables.get(documentsTable, documentKey(id)))?.moving;
    if (now === moving) return { writes: [], events: [], result: false };
    const when: Condition = now === undefined ? ["moving", "missing"] : ["moving", "=", now];
    return {
      writes: [
        { op: "check", table: documentsTable, key: documentKey(id), when: [when] },
        { op: "delete", table: accessesTable, key: { pk, sk: first.sk } },
      ],
      ...{ events: [], result: true },
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
 * Replaces the accesses and invitations that documents had before a move by those they have since. Until it is done, the
 * staged accesses count and the old rows do not, so it may stop anywhere and be repeated. Every change of accesses or
 * invitations calls it first.
 */
export async function settleMoves(deps: CommitDeps, documents: readonly StoredDocument[]): Promise<void> {
  for (const { id, moving } of documents) if (moving !== undefined) await settle(deps, id, moving);
}

async function settle(deps: CommitDeps, id: string, moving: string): Promise<void> {
  const pk = stagedAccesses(id, moving);
  const [before, staged, invited] = await Promise.all([
    readAll(deps, accessesTable, { pk: id }),
    readAll(deps, accessesTable, { pk }),
    readAll(deps, invitationsTable, { pk: id }),
  ]);
  const kept = new Set(staged.map(({ sk }) => sk));
  const rows: readonly (readonly Write[])[] = [
    ...before.filter(({ sk }) => !kept.has(sk)).map((access) => planRevocation(access)),
    ...staged.map((access) => planBequest({ ...access, pk: id })),
    ...invited.map(planUninvite),
  ];
  // Somebody else may have settled it meanwhile, and accesses may have been given since.
  const when = [["moving", "=", moving]] as const;
  const key = documentKey(id);
  const isOpen: Write = { op: "check", table: documentsTable, key, when };
  for (let at = 0; at < rows.length; at += ROWS_AT_ONCE)
    if (!(await written(deps, id, moving, [isOpen, ...rows.slice(at, at + ROWS_AT_ONCE).flat()]))) return;
  const change = { remove: ["moving"] };
  await written(deps, id, moving, [{ op: "update", table: documentsTable, key, change, when }]);
  await removeStaged(deps, staged);
}

/** Writes for as long as the move is not settled; false once it is. */
function written(deps: CommitDeps, id: string, moving: string, writes: readonly Write[]): Promise<boolean> {
  return commitChange(deps, async () => {
    const isOpen = (await deps.tables.get(documentsTable, documentKey(id)))?.moving === moving;
    return { writes: isOpen ? writes : [], events: [], result: isOpen };
  });
}
