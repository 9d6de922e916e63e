import { ApiError } from "../../errors.ts";
import type { Ports } from "../../platform/ports.ts";
import {
  type AuthorizationDeps,
  authorize,
  type DocumentAccess,
  resolveAccess,
} from "../authorization/document-access.ts";
import { type CommitDeps, commitChange } from "../changes/commit.ts";
import { documentEvent } from "../events/document-event.ts";
import { planInitialAccess } from "../grants/grants.ts";
import { documentKey, documentsTable } from "../tables/documents.ts";
import type { StoredUser } from "../tables/users.ts";
import { allocateOrder } from "../tree/siblings.ts";
import { planInsert, planWithinDepth, type TreePosition } from "../tree/tree-writes.ts";
import type { CreateBody } from "./body.ts";

export type CreateDeps = CommitDeps & AuthorizationDeps & Pick<Ports, "ids">;

/** Creates a root owned by the user. Throws `bad_request` if the id is taken. Reference 1.2. */
export async function createDocument(
  deps: CreateDeps,
  user: StoredUser,
  body: CreateBody,
): Promise<DocumentAccess> {
  return create(deps, user, body, async () => ({
    parent: undefined,
    ...(await allocateOrder(deps, null, "last")),
  }));
}

/**
 * Creates a last child; access is inherited. Throws `bad_request` if the id is taken or the tree would be too deep.
 * Reference 1.3.
 */
export async function createChild(
  deps: CreateDeps,
  user: StoredUser,
  parent: DocumentAccess,
  body: CreateBody,
): Promise<DocumentAccess> {
  return create(deps, user, body, async (attempt) => {
    // The parent may have been deleted since.
    const now = attempt === 0 ? parent : await authorize(deps, user, parent.document.id, "children_create");
    return { parent: now, ...(await allocateOrder(deps, parent.document.id, "last")) };
  });
}

async function create(
  deps: CreateDeps,
  user: StoredUser,
  { id: wanted, title = null, excerpt = null }: CreateBody,
  target: (attempt: number) => Promise<TreePosition>,
): Promise<DocumentAccess> {
  const id = wanted ?? deps.ids.random();
  const node = await commitChange(deps, async (attempt) => {
    if (wanted != null && (await deps.tables.get(documentsTable, documentKey(id))) !== undefined)
      throw taken();
    const at = new Date(deps.clock.now()).toISOString();
    const to = await target(attempt);
    const isRoot = to.parent === undefined;
    const { document, writes } = planWithinDepth(() =>
      planInsert(
        {
          id,
          title,
          excerpt,
          link_reach: "restricted",
          link_role: "reader",
          creator: user.id,
          duplicated_from: null,
          created_at: at,
          updated_at: at,
          deleted_at: null,
          accesses: isRoot ? 1 : 0,
          owners: isRoot ? 1 : 0,
        },
        to,
      ),
    );
    const ancestors = to.parent === undefined ? [] : [...to.parent.ancestors, to.parent.document];
    return {
      writes: [...writes, ...(isRoot ? planInitialAccess(deps, id, user.id, "owner") : [])],
      events: [documentEvent("documents.created", document, user)],
      result: { document, ancestors },
    };
  });
  return resolveAccess(deps, user, node);
}

function taken(): ApiError {
  const message = "A document with this ID already exists. You cannot override it.";
  return new ApiError("bad_request", message, { body: { id: [message] } });
}
