import { ApiError } from "../../errors.ts";
import type { Ports } from "../../platform/ports.ts";
import { openDocument, type SeenDeps, type Viewer } from "../authorization/document-access.ts";
import { type CommitDeps, commitChange } from "../changes/commit.ts";
import { documentEvent } from "../events/document-event.ts";
import { orderAgain } from "../tree/siblings.ts";
import { planDelete, planRestore } from "../tree/tree-writes.ts";

type DeleteDeps = CommitDeps & SeenDeps & Pick<Ports, "ids">;

/**
 * Puts a document into the trash, and with it what lies in it. Throws `not_found`, `unauthorized`, `forbidden`.
 * Reference 3.1.
 */
export async function deleteDocument(deps: DeleteDeps, viewer: Viewer, id: string): Promise<void> {
  await commitChange(deps, async () => {
    const seen = await openDocument(deps, viewer, id, "destroy");
    const at = new Date(deps.clock.now()).toISOString();
    return {
      writes: planDelete(seen, at),
      events: [documentEvent("documents.deleted", seen.document, viewer)],
      result: undefined,
    };
  });
}

const NOT_DELETED = "This document is not deleted.";

/**
 * Brings a document back from the trash, where what it lies in may still be. Throws `bad_request` where it is not
 * deleted itself, `not_found`, `unauthorized`, `forbidden`. Seed: documents 3; reference 3.2.
 */
export async function restoreDocument(deps: DeleteDeps, viewer: Viewer, id: string): Promise<void> {
  await commitChange(deps, async () => {
    const seen = await openDocument(deps, viewer, id, "restore");
    const { document } = seen;
    if (document.deleted_at === null) throw new ApiError("bad_request", NOT_DELETED);
    const { parent, order } = document;
    return {
      writes: planRestore(seen, parent === null ? undefined : await orderAgain(deps, parent, order)),
      events: [documentEvent("documents.restored", document, viewer)],
      result: undefined,
    };
  });
}
