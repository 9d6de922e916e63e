import { ApiError } from "../../errors.ts";
import { readAll } from "../../events/read-all.ts";
import type { PageRequest } from "../../http/page.ts";
import type { Write } from "../../platform/tables.ts";
import type { Role } from "../access/roles.ts";
import { authorize, type DocumentAccess, findDocument } from "../authorization/document-access.ts";
import { commitChange } from "../changes/commit.ts";
import { sharedEvent } from "../events/document-event.ts";
import { completeMoves } from "../grants/staged-accesses.ts";
import { planMail } from "../mail/queue.ts";
import {
  invitationKey,
  invitationsTable,
  invitedKey,
  invitedTable,
  planInvitationRemoval,
  type StoredInvitation,
} from "../tables/invitations.ts";
import { normalizeEmail, type StoredUser } from "../tables/users.ts";
import { usersByEmail } from "../users/users.ts";
import { acceptInvitations } from "./accept-invitations.ts";
import { compareByCreation, type SharingDeps } from "./deps.ts";
import {
  type InvitationBody,
  type InvitationChange,
  type InvitationRecord,
  toInvitation,
} from "./invitation-record.ts";

/** Maximum invitations of a document: all are read for a page. */
export const INVITATIONS_MAX = 1_000;

/** Returns the document if the viewer may manage its accesses. */
async function authorizeManager(deps: SharingDeps, viewer: StoredUser, id: string): Promise<DocumentAccess> {
  const documentAccess = await authorize(deps, viewer, id, "accesses_manage");
  await completeMoves(deps, [documentAccess.document]);
  return documentAccess;
}

/**
 * Lists a page of a document's invitations, latest first, and their total count; empty if the viewer may not manage
 * accesses. Throws `not_found`. Reference 1.10.
 */
export async function listInvitations(
  deps: SharingDeps,
  viewer: StoredUser,
  id: string,
  { offset, limit }: PageRequest,
): Promise<{ readonly count: number; readonly results: readonly InvitationRecord[] }> {
  const documentAccess = await findDocument(deps, viewer, id);
  if (!documentAccess.abilities.accesses_manage) return { count: 0, results: [] };
  await completeMoves(deps, [documentAccess.document]);
  const all = await readAll(deps, invitationsTable, { pk: id });
  const sorted = all.toSorted(compareByCreation).toReversed();
  const now = deps.clock.now();
  return {
    count: sorted.length,
    results: sorted.slice(offset, offset + limit).map((one) => toInvitation(one, now)),
  };
}

/**
 * Invites an email address and sends it an email. Throws `bad_request` with field errors, `not_found`, `forbidden`.
 * Reference 1.10.
 */
export async function createInvitation(
  deps: SharingDeps,
  viewer: StoredUser,
  id: string,
  { email, role }: InvitationBody,
): Promise<InvitationRecord> {
  const invitation = await commitChange(deps, async () => {
    const documentAccess = await authorizeManager(deps, viewer, id);
    requireGrantableRole(documentAccess, role);
    await requireInvitableEmail(deps, id, email);
    if ((await readAll(deps, invitationsTable, { pk: id })).length >= INVITATIONS_MAX)
      throw refused(
        "__all__",
        `This document has reached its limit of ${INVITATIONS_MAX} invitations; delete some first.`,
      );
    const { writes, made } = planInvitation(deps, { document: id, email, role, issuer: viewer.id });
    const { document } = documentAccess;
    const mail = { kind: "invited", to: email, language: viewer.language, role, document } as const;
    return {
      writes: [...writes, ...planMail(deps, { ...mail, sender: viewer })],
      events: [sharedEvent(document, viewer, { user: null, team: null, role }, "invited")],
      result: made,
    };
  });
  // A user who signed in meanwhile has not seen the invitation.
  for (const user of await usersByEmail(deps, email)) await acceptInvitations(deps, user);
  return toInvitation(invitation, deps.clock.now());
}

/** Plans an invitation. The writes fail if the address already has one to the document. */
export function planInvitation(
  { ids, clock }: Pick<SharingDeps, "ids" | "clock">,
  made: Pick<StoredInvitation, "document" | "email" | "role" | "issuer">,
): { made: StoredInvitation; writes: Write[] } {
  const id = ids.random();
  const invitation: StoredInvitation = {
    ...invitationKey(made.document, id),
    ...made,
    id,
    revision: 1,
    created_at: new Date(clock.now()).toISOString(),
  };
  return {
    made: invitation,
    writes: [{ op: "put", table: invitationsTable, item: invitation }, putInvited(invitation)],
  };
}

const putInvited = ({ email, document, id }: StoredInvitation): Write => ({
  op: "put",
  table: invitedTable,
  item: { ...invitedKey(email, document), id },
  when: [["pk", "missing"]],
});

/** Throws `not_found`, `forbidden`. Reference 1.10. */
export async function getInvitation(
  deps: SharingDeps,
  viewer: StoredUser,
  id: string,
  invitationId: string,
): Promise<InvitationRecord> {
  await authorizeManager(deps, viewer, id);
  return toInvitation(await readInvitation(deps, id, invitationId), deps.clock.now());
}

/**
 * Updates the role or address of an invitation; its expiry does not change. Throws `bad_request`, `not_found`,
 * `forbidden`. Reference 1.10.
 */
export async function updateInvitation(
  deps: SharingDeps,
  viewer: StoredUser,
  id: string,
  invitationId: string,
  change: InvitationChange,
): Promise<InvitationRecord> {
  const changed = await commitChange(deps, async () => {
    const documentAccess = await authorizeManager(deps, viewer, id);
    const before = await readInvitation(deps, id, invitationId);
    const { role = before.role, email = before.email } = change;
    if (role !== before.role) requireGrantableRole(documentAccess, role);
    const result: StoredInvitation = { ...before, role, email, revision: before.revision + 1 };
    const moves = email !== before.email;
    if (moves) await requireInvitableEmail(deps, id, email);
    if (!moves && role === before.role) return { writes: [], events: [], result: before };
    const writes: Write[] = [
      {
        op: "put",
        table: invitationsTable,
        item: result,
        when: [["revision", "=", before.revision]],
      },
    ];
    if (moves)
      writes.push(
        { op: "delete", table: invitedTable, key: invitedKey(before.email, id) },
        putInvited(result),
      );
    return { writes, events: [], result };
  });
  return toInvitation(changed, deps.clock.now());
}

/** Throws `not_found`, `forbidden`. Reference 1.10. */
export async function deleteInvitation(
  deps: SharingDeps,
  viewer: StoredUser,
  id: string,
  invitationId: string,
): Promise<void> {
  await commitChange(deps, async () => {
    await authorizeManager(deps, viewer, id);
    const invitation = await readInvitation(deps, id, invitationId);
    return { writes: planInvitationRemoval(invitation), events: [], result: undefined };
  });
}

async function readInvitation(deps: SharingDeps, document: string, id: string): Promise<StoredInvitation> {
  const invitation = await deps.tables.get(invitationsTable, invitationKey(document, id));
  if (invitation === undefined) throw new ApiError("not_found", "No Invitation matches the given query.");
  return invitation;
}

function requireGrantableRole({ abilities }: DocumentAccess, role: Role): void {
  if (role === "owner" && !abilities.invite_owner)
    throw refused("role", "Only owners of a document can invite other users as owners.");
}

/** Throws `bad_request` if the address belongs to a user or already has an invitation. */
async function requireInvitableEmail(deps: SharingDeps, document: string, email: string): Promise<void> {
  const isOwners = email === normalizeEmail(deps.documents.ownerEmail);
  if (isOwners || (await usersByEmail(deps, email)).length > 0)
    throw refused("email", "This email is already associated to a registered user.");
  if ((await deps.tables.get(invitedTable, invitedKey(email, document))) !== undefined)
    throw refused("__all__", "Document invitation with this Email address and Document already exists.");
}

const refused = (field: string, message: string): ApiError =>
  new ApiError("bad_request", message, { body: { [field]: [message] } });
