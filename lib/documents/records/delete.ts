import { ApiError } from "../../errors.ts";
import type { Ports } from "../../platform/ports.ts";
import { type AuthorizationDeps, authorize, type Viewer } from "../authorization/document-access.ts";
import { type CommitDeps, commitChange } from "../changes/commit.ts";
import { documentEvent } from "../events/document-event.ts";
import { reclaimOrder } from "../tree/siblings.ts";
import { planDelete, planRestore } from "../tree/tree-writes.ts";

type DeleteDeps = CommitDeps & AuthorizationDeps & Pick<Ports, "ids">;

/**
 * Puts a document into the trash, and with it what lies in it. Throws `not_found`, `unauthorized`, `forbidden`.
 * Reference 3.1.
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
 * Brings a document back from the trash, where what it lies in may still be. Throws `bad_request` where it is not
 * deleted itself, `not_found`, `unauthorized`, `forbidden`. Seed: documents 3; reference 3.2.
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
