import { readAll } from "../../events/read-all.ts";
import type { Write } from "../../platform/tables.ts";
import { higherRole } from "../access/roles.ts";
import { type Change, type CommitDeps, commitChange } from "../changes/commit.ts";
import { sharedEvent } from "../events/document-event.ts";
import { ACCESSES_MAX, planGrant, planRoleChange } from "../grants/grants.ts";
import { completeMoves } from "../grants/staged-accesses.ts";
import { accessesTable, accessId, accessKey } from "../tables/accesses.ts";
import { documentKey, documentsTable } from "../tables/documents.ts";
import {
  invitationKey,
  invitationsTable,
  invitedKey,
  invitedPartition,
  invitedTable,
  isExpired,
} from "../tables/invitations.ts";
import { type StoredUser, userKey, usersTable } from "../tables/users.ts";

/** Maximum invitations accepted per call. */
const ACCEPTED_MAX = 500;

/**
 * Converts a user's unexpired invitations to accesses. The user becomes the creator of documents without one.
 * Accepted invitations are deleted, so this can be repeated. Reference 2.4.
 */
export async function acceptInvitations(deps: CommitDeps, user: StoredUser): Promise<void> {
  if (user.email === null) return;
  const invited = await readAll(deps, invitedTable, { pk: invitedPartition(user.email) }, ACCEPTED_MAX);
  for (const { sk: document, id } of invited) await accept(deps, user, document, id);
  if (user.invitations_pending === undefined || invited.length === ACCEPTED_MAX) return;
  // Last, so that the next request continues after a crash.
  const change = { remove: ["invitations_pending"], add: { revision: 1 } };
  await deps.tables.update(usersTable, userKey(user.id), change, [["invitations_pending", "=", true]]);
}

const NOTHING: Change<void> = { writes: [], events: [], result: undefined };

async function accept(deps: CommitDeps, user: StoredUser, id: string, invitationId: string): Promise<void> {
  await commitChange(deps, async () => {
    const key = invitationKey(id, invitationId);
    const [invitation, document, access] = await Promise.all([
      deps.tables.get(invitationsTable, key),
      deps.tables.get(documentsTable, documentKey(id)),
      deps.tables.get(accessesTable, accessKey(id, accessId(id, { user: user.id }))),
    ]);
    // The move ends the invitation.
    if (document?.pending_move !== undefined) {
      await completeMoves(deps, [document]);
      return NOTHING;
    }
    if (invitation === undefined || isExpired(invitation, deps.clock.now())) return NOTHING;
    const gone: Write[] = [
      {
        op: "delete",
        table: invitationsTable,
        key,
        when: [["revision", "=", invitation.revision]],
      },
      { op: "delete", table: invitedTable, key: invitedKey(invitation.email, id) },
    ];
    if (document === undefined) return { ...NOTHING, writes: gone };
    const role = higherRole(access?.role ?? null, invitation.role) ?? invitation.role;
    if (access?.role === role) return { ...NOTHING, writes: gone };
    if (document.accesses >= ACCESSES_MAX) return NOTHING;
    const given =
      access === undefined
        ? planGrant(deps, document, { user: user.id }, role).writes
        : planRoleChange(document, access, role);
    return {
      writes: [...gone, ...(document.creator === null ? withCreator(given, id, user) : given)],
      events: [sharedEvent(document, user, { user: user.id, team: null, role }, "given")],
      result: undefined,
    };
  });
}

/** Adds the creator to the document's update: a transaction writes an item once. */
function withCreator(writes: readonly Write[], document: string, user: StoredUser): Write[] {
  const { pk } = documentKey(document);
  return writes.map((write) =>
    write.op === "update" && write.table === documentsTable && write.key.pk === pk
      ? { ...write, change: { ...write.change, set: { ...write.change.set, creator: user.id } } }
      : write,
  );
}
