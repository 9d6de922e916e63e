import { ApiError } from "../../errors.ts";
import type { Ports } from "../../platform/ports.ts";
import { type AuthorizationDeps, authorize, type Viewer } from "../authorization/document-access.ts";
import { type CommitDeps, commitChange } from "../changes/commit.ts";
import { documentEvent } from "../events/document-event.ts";
import { reclaimOrder } from "../tree/siblings.ts";
import { planDelete, planRestore } from "../tree/tree-writes.ts";

type DeleteDeps = CommitDeps & AuthorizationDeps & Pick<Ports, "ids">;

/**
 * Moves a document and its descendants to the trash. Throws `not_found`, `unauthorized`, `forbidden`. Reference 3.1.
 */
export async function deleteDocument(deps: DeleteDeps, viewer: Viewer, id: string): Promise<void> {
  await commitChange(deps, async () => {
    const access = await authorize(deps, viewer, id, "destroy");
    const at = new Date(deps.clock.now()).toISOString();
    return {
      writes: planDelete(access, at),
      events: [documentEvent("documents.deleted", access.document, viewer)],
      result: undefined,
    };
  });
}

const NOT_DELETED = "This document is not deleted.";

/**
 * Restores a document from the trash; its ancestors may still be deleted. Throws `bad_request` if the document itself
 * is not deleted, `not_found`, `unauthorized`, `forbidden`. Seed: documents 3; reference 3.2.
 */
export async function restoreDocument(deps: DeleteDeps, viewer: Viewer, id: string): Promise<void> {
  await commitChange(deps, async () => {
    const access = await authorize(deps, viewer, id, "restore");
    const { document } = access;
    if (document.deleted_at === null) throw new ApiError("bad_request", NOT_DELETED);
    const { parent, order } = document;
    return {
      writes: planRestore(access, parent === null ? undefined : await reclaimOrder(deps, parent, order)),
      events: [documentEvent("documents.restored", document, viewer)],
      result: undefined,
    };
  });
}
