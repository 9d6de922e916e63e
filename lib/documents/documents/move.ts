import * as z from "zod";
import { ApiError } from "../../errors.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import { planChangeOfTree, type RightsMoved } from "../access/change-of-tree.ts";
import { openDocument, type SeenDeps, seenBy, type Viewer } from "../access/seen.ts";
import { type CommitDeps, commitChange } from "../commit.ts";
import { deletedAt, lineOf, type Placed, readPlaced } from "../tree/chain.ts";
import { planMove, type Target } from "../tree/place.ts";
import type { StoredDocument } from "../tree/table.ts";
import { isChildPosition, isWithin, POSITIONS, type Position, parentOf, targetOf } from "../tree/target.ts";
import { documentEvent } from "./events.ts";
import { withinLevels } from "./levels.ts";

const NO_UUID = "Must be a valid UUID.";

/** Body of a move. Reference 3.3. */
export const moveBody = z.object({
  target_document_id: z
    .guid({ error: ({ input }) => (input == null ? undefined : NO_UUID) })
    .transform((id) => id.toLowerCase()),
  position: z.enum(POSITIONS).default("last-child").describe("Of the document, as seen from the target"),
});
export type MoveBody = z.infer<typeof moveBody>;

export type MoveDeps = CommitDeps & SeenDeps & Pick<Ports, "ids">;

/** Writes of a move at most; the rest of a transaction is for what tells of it. */
const WRITES_MAX = 85;

/**
 * Moves a document with all that lies in it below or beside another, at once. Where it comes into another tree, or was
 * or becomes a root, what is granted on it alone ends. Throws
 * `not_found`, `unauthorized`, `forbidden`; `bad_request` for a target that cannot be; `conflict` where others were
 * faster many times. Seed: documents 3; reference 3.3.
 */
export async function moveDocument(
  deps: MoveDeps,
  viewer: Viewer,
  id: string,
  { target_document_id, position }: MoveBody,
): Promise<void> {
  await commitChange(deps, async () => {
    const moved = await openDocument(deps, viewer, id, "move");
    const beside = await readPlaced(deps, target_document_id);
    if (beside === undefined || deletedAt(beside) !== null)
      throw refused("Target parent document does not exist.");
    await checkAllowed(deps, viewer, beside, position);
    if (isWithin(beside, id)) throw refused("Cannot move a document to its own descendant.");
    const target = await targetOf(deps, beside, position);
    const rights = await rightsMoved(deps, moved, target);
    const at = new Date(deps.clock.now()).toISOString();
    const writes = [
      ...withinLevels(() => planMove(moved, target, at, rights?.along)),
      ...(rights?.writes ?? []),
    ];
    checkSize(writes);
    const { document } = moved;
    const now = { id, title: document.title, parent: target?.parent.document.id ?? null };
    const before = { previous_parent_id: document.parent };
    return {
      writes,
      events: [documentEvent("documents.moved", now, viewer, before)],
      result: undefined,
    };
  });
}

/** Whoever puts something into a document, or beside one in it, may move that, too; the roots are nobody's. */
async function checkAllowed(
  deps: SeenDeps,
  viewer: Viewer,
  beside: Placed,
  position: Position,
): Promise<void> {
  const isChild = isChildPosition(position);
  const into = isChild ? beside : parentOf(beside);
  if (into === undefined || (await seenBy(deps, viewer, into)).abilities.move) return;
  const how = isChild ? "as a child to this target document" : "as a sibling of this target document";
  throw refused(`You do not have permission to move documents ${how}.`);
}

const rootOf = (place: Placed): StoredDocument => lineOf(place)[0] ?? place.document;

/** What becomes of the document's own rights; undefined where it stays in its tree. */
async function rightsMoved(deps: MoveDeps, moved: Placed, target: Target): Promise<RightsMoved | undefined> {
  const formerRoot = rootOf(moved);
  if (target === undefined) return planChangeOfTree(deps, moved.document, formerRoot);
  const stays = moved.document.parent !== null && rootOf(target.parent).id === formerRoot.id;
  return stays ? undefined : planChangeOfTree(deps, moved.document);
}

/** A move is whole or not at all: what does not fit into one transaction is refused before it begins. */
function checkSize(writes: readonly Write[]): void {
  if (writes.length <= WRITES_MAX) return;
  throw refused(
    "More accesses of the document and its owners end or begin with this move than can at once: remove some first.",
  );
}

/** Of one text, as clients know it here. */
const refused = (message: string): ApiError =>
  new ApiError("bad_request", message, { body: { target_document_id: message } });
