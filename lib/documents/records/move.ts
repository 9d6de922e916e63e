import * as z from "zod";
import { ApiError } from "../../errors.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import {
  type AuthorizationDeps,
  authorize,
  resolveAccess,
  type Viewer,
} from "../authorization/document-access.ts";
import { type CommitDeps, commitChange } from "../changes/commit.ts";
import { documentEvent } from "../events/document-event.ts";
import { scheduleMoveCompletion } from "../events/updated-event.ts";
import { completeMoves, stageAccesses } from "../grants/staged-accesses.ts";
import { planTreeChange, type TreeChange } from "../grants/tree-change.ts";
import { documentKey, documentsTable, type StoredDocument } from "../tables/documents.ts";
import { ancestorsAndSelf, type DocumentNode, findDeletedAt, readNode } from "../tree/ancestors.ts";
import {
  getParentNode,
  isChildPosition,
  isSameOrDescendant,
  POSITIONS,
  type Position,
  resolveTarget,
} from "../tree/move-target.ts";
import { type ExtraUpdate, planMove, planWithinDepth, type TreePosition } from "../tree/tree-writes.ts";

const NO_UUID = "Must be a valid UUID.";

/** Body of a move. Reference 3.3. */
export const moveBody = z.object({
  target_document_id: z
    .guid({ error: ({ input }) => (input == null ? undefined : NO_UUID) })
    .transform((id) => id.toLowerCase()),
  position: z.enum(POSITIONS).default("last-child").describe("Position relative to the target"),
});
export type MoveBody = z.infer<typeof moveBody>;

export type MoveDeps = CommitDeps & AuthorizationDeps & Pick<Ports, "ids" | "timers">;

/** Maximum writes in the move's transaction; the rest is for events. With more, the accesses are staged. */
const WRITES_MAX = 85;

/**
 * Moves a document and its descendants below or next to another, atomically. If it changes trees, or was or becomes a
 * root, its own accesses end. Throws `not_found`, `unauthorized`, `forbidden`; `bad_request` for an invalid target;
 * `conflict`. Seed: documents 3; reference 3.3.
 */
export async function moveDocument(
  deps: MoveDeps,
  viewer: Viewer,
  id: string,
  { target_document_id, position }: MoveBody,
): Promise<void> {
  let isStaged = false;
  await commitChange(deps, async () => {
    const moved = await authorize(deps, viewer, id, "move");
    const beside = await readNode(deps, target_document_id);
    if (beside === undefined || findDeletedAt(beside) !== null)
      throw refused("Target parent document does not exist.");
    await checkAllowed(deps, viewer, beside, position);
    if (isSameOrDescendant(beside, id)) throw refused("Cannot move a document to its own descendant.");
    const target = await resolveTarget(deps, beside, position);
    await completeMoves(deps, ancestorsAndSelf(moved));
    const rights = await planRights(deps, moved, target);
    const at = new Date(deps.clock.now()).toISOString();
    const move = (along?: ExtraUpdate): Write[] => planWithinDepth(() => planMove(moved, target, at, along));
    let writes = [...move(rights?.documentUpdate), ...(rights?.writes ?? [])];
    isStaged = rights !== undefined && writes.length > WRITES_MAX;
    if (rights !== undefined && isStaged) {
      const moveId = deps.ids.random();
      // Set first, so that staged rows are removed whatever happens to the move.
      await scheduleMoveCompletion(deps, id, moveId);
      const areStaged = await stageAccesses(deps, id, moveId, rights.accesses);
      const { set, when } = rights.documentUpdate;
      writes = [...move({ set: { ...set, pending_move: moveId }, when }), ...areStaged];
    }
    const { document } = moved;
    const now = { id, title: document.title, parent: target.parent?.document.id ?? null };
    const before = { previous_parent_id: document.parent };
    return {
      writes,
      events: [documentEvent("documents.moved", now, viewer, before)],
      result: undefined,
    };
  });
  if (!isStaged) return;
  const document = await deps.tables.get(documentsTable, documentKey(id));
  if (document === undefined) return;
  // The move is committed and its accesses apply; the timer completes the rest.
  await completeMoves(deps, [document]).catch((error: unknown) =>
    deps.log.warn("completing the move of a document failed and will be retried", { document: id, error }),
  );
}

/** The viewer must be able to move the target parent too. Anyone may move documents to the root level. */
async function checkAllowed(
  deps: AuthorizationDeps,
  viewer: Viewer,
  beside: DocumentNode,
  position: Position,
): Promise<void> {
  const isChild = isChildPosition(position);
  const into = isChild ? beside : getParentNode(beside);
  if (into === undefined || (await resolveAccess(deps, viewer, into)).abilities.move) return;
  const how = isChild ? "as a child to this target document" : "as a sibling of this target document";
  throw refused(`You do not have permission to move documents ${how}.`);
}

const rootOf = (node: DocumentNode): StoredDocument => ancestorsAndSelf(node)[0] ?? node.document;

/** Plans the changes of the document's own accesses; undefined if it stays in its tree. */
async function planRights(
  deps: MoveDeps,
  moved: DocumentNode,
  target: TreePosition,
): Promise<TreeChange | undefined> {
  const formerRoot = rootOf(moved);
  if (target.parent === undefined) return planTreeChange(deps, moved.document, formerRoot);
  const stays = moved.document.parent !== null && rootOf(target.parent).id === formerRoot.id;
  return stays ? undefined : planTreeChange(deps, moved.document);
}

/** The API returns one text here, not a list. */
const refused = (message: string): ApiError =>
  new ApiError("bad_request", message, { body: { target_document_id: message } });
