import { ApiError } from "../../errors.ts";
import { readAll } from "../../events/read-all.ts";
import { higherRole, isPrivileged, type Role } from "../access/roles.ts";
import {
  accessDenied,
  authorize,
  type DocumentAccess,
  findDocument,
} from "../authorization/document-access.ts";
import { commitChange } from "../changes/commit.ts";
import { sharedEvent } from "../events/document-event.ts";
import { ACCESSES_MAX, type Grantee, planGrant, planRevocation, planRoleChange } from "../grants/grants.ts";
import { completeMoves } from "../grants/staged-accesses.ts";
import { planMail } from "../mail/queue.ts";
import { accessesTable, accessId, accessKey, type StoredAccess } from "../tables/accesses.ts";
import { type StoredUser, userKey, usersTable } from "../tables/users.ts";
import { ancestorsAndSelf, type DocumentNode } from "../tree/ancestors.ts";
import { findUser } from "../users/users.ts";
import { type AccessRecord, type ShownAccess, toAccess, toShownAccess } from "./access-record.ts";
import type { AccessBody } from "./body.ts";
import { compareByCreation, type SharingDeps } from "./deps.ts";

/**
 * Lists the accesses of a document and its ancestors, root first. Callers who are not administrators or owners see
 * only administrators and owners, without addresses; callers without a role see none. Throws `not_found`, and
 * `forbidden` in the trash. Reference 1.9.
 */
export async function listAccesses(
  deps: SharingDeps,
  viewer: StoredUser,
  id: string,
): Promise<AccessRecord[]> {
  const documentAccess = await findDocument(deps, viewer, id);
  if (documentAccess.role === null) return [];
  if (!documentAccess.abilities.accesses_view) throw accessDenied(viewer);
  const line = ancestorsAndSelf(documentAccess);
  await completeMoves(deps, line);
  const rows = await Promise.all(line.map((document) => rowsOf(deps, document.id)));
  const users = await usersOf(deps, rows.flat());
  const light = !isPrivileged(documentAccess.role);
  const above = new Map<string, Role>();
  let callerRole: Role | null = null;
  const shown: ShownAccess[] = [];
  line.forEach((document, at) => {
    const node: DocumentNode = { document, ancestors: line.slice(0, at) };
    const own = rows[at] ?? [];
    callerRole = higherRole(callerRole, own.find(({ user }) => user === viewer.id)?.role ?? null);
    for (const access of own) {
      const user = access.user === null ? undefined : users.get(access.user);
      const maxAncestorsRole = above.get(granteeKey(access)) ?? null;
      shown.push(toShownAccess(access, node, viewer, { callerRole, user, maxAncestorsRole }));
    }
    for (const access of own) {
      const role = higherRole(above.get(granteeKey(access)) ?? null, access.role);
      if (role !== null) above.set(granteeKey(access), role);
    }
  });
  return shown
    .filter(({ access }) => !light || isPrivileged(access.role))
    .map((one) => toAccess(one, { light }));
}

/** Oldest first. */
async function rowsOf(deps: SharingDeps, document: string): Promise<StoredAccess[]> {
  const rows = await readAll(deps, accessesTable, { pk: document });
  return rows.toSorted(compareByCreation);
}

async function usersOf(
  { tables }: SharingDeps,
  rows: readonly StoredAccess[],
): Promise<ReadonlyMap<string, StoredUser>> {
  const ids = new Set(rows.flatMap(({ user }) => (user === null ? [] : [user])));
  const users = await tables.batchGet(usersTable, [...ids].map(userKey));
  return new Map(users.map((user) => [user.id, user]));
}

const granteeKey = ({ user, team }: StoredAccess): string =>
  user === null ? `team:${team}` : `user:${user}`;

/**
 * Grants a user or team a role and emails the user. Throws `bad_request` with field errors, `not_found`, `forbidden`.
 * Reference 1.9.
 */
export async function createAccess(
  deps: SharingDeps,
  viewer: StoredUser,
  id: string,
  body: AccessBody,
): Promise<AccessRecord> {
  const { role } = body;
  const made = await commitChange(deps, async () => {
    const documentAccess = await authorize(deps, viewer, id, "accesses_manage");
    const { document } = documentAccess;
    await completeMoves(deps, [document]);
    const { grantee, user } = await resolveGrantee(deps, body);
    if (role === "owner" && !documentAccess.abilities.invite_owner)
      throw new ApiError("forbidden", "Only owners of a document can assign other users as owners.");
    if ((await deps.tables.get(accessesTable, accessKey(id, accessId(id, grantee)))) !== undefined)
      throw refused(
        user === undefined
          ? "This team is already in this document."
          : "This user is already in this document.",
      );
    if (document.accesses >= ACCESSES_MAX)
      throw refused(`This document has reached its limit of ${ACCESSES_MAX.toLocaleString("en")} members.`);
    const { access, writes } = planGrant(deps, document, grantee, role);
    const mail =
      user === undefined
        ? []
        : planMail(deps, {
            kind: "shared",
            to: user.email,
            user: user.id,
            language: user.language,
            role,
            document,
            sender: viewer,
          });
    const owners = document.owners + (role === "owner" ? 1 : 0);
    const node: DocumentNode = { ...documentAccess, document: { ...document, owners } };
    return {
      writes: [...writes, ...mail],
      events: [sharedEvent(document, viewer, access, "given")],
      result: toShownAccess(access, node, viewer, {
        callerRole: documentAccess.role,
        user,
        maxAncestorsRole: null,
      }),
    };
  });
  return toAccess(made, { light: false });
}

async function resolveGrantee(
  deps: SharingDeps,
  { user_id, team }: AccessBody,
): Promise<{ readonly grantee: Grantee; readonly user: StoredUser | undefined }> {
  if ((user_id == null) === (team === null)) throw refused("Either user or team must be set, not both.");
  if (user_id == null) return { grantee: { team: team ?? "" }, user: undefined };
  const user = await findUser(deps, user_id);
  if (user !== undefined) return { grantee: { user: user_id }, user };
  const message = `Invalid pk "${user_id}" - object does not exist.`;
  throw new ApiError("bad_request", message, { body: { user_id: [message] } });
}

const refused = (message: string): ApiError =>
  new ApiError("bad_request", message, { body: { __all__: [message] } });

/** Returns an access of a document. Throws `not_found`, `forbidden`. Reference 1.9. */
export async function getAccess(
  deps: SharingDeps,
  viewer: StoredUser,
  id: string,
  accessId: string,
): Promise<AccessRecord> {
  const { shown } = await loadAccess(deps, viewer, id, accessId);
  if (!shown.abilities.retrieve) throw accessDenied(viewer);
  return toAccess(shown, { light: false });
}

/** Changes the role of an access. Throws `not_found`, `forbidden`. Reference 1.9. */
export async function updateAccess(
  deps: SharingDeps,
  viewer: StoredUser,
  id: string,
  accessId: string,
  { role }: { readonly role?: Role | undefined },
): Promise<AccessRecord> {
  await commitChange(deps, async () => {
    const { documentAccess, shown } = await loadAccess(deps, viewer, id, accessId);
    const { access, abilities } = shown;
    const wanted = role ?? access.role;
    if (!abilities.update || !abilities.set_role_to.includes(wanted)) throw accessDenied(viewer);
    const changed = { ...access, role: wanted };
    return wanted === access.role
      ? { writes: [], events: [], result: undefined }
      : {
          writes: planRoleChange(documentAccess.document, access, wanted),
          events: [sharedEvent(documentAccess.document, viewer, changed, "changed")],
          result: undefined,
        };
  });
  return toAccess((await loadAccess(deps, viewer, id, accessId)).shown, { light: false });
}

/**
 * Removes an access; a root keeps its last owner, also under concurrency. Throws `not_found`, `forbidden`. Reference
 * 1.9.
 */
export async function deleteAccess(
  deps: SharingDeps,
  viewer: StoredUser,
  id: string,
  accessId: string,
): Promise<void> {
  await commitChange(deps, async () => {
    const { documentAccess, shown } = await loadAccess(deps, viewer, id, accessId);
    if (!shown.abilities.destroy) throw accessDenied(viewer);
    return {
      writes: planRevocation(documentAccess.document, shown.access),
      events: [sharedEvent(documentAccess.document, viewer, shown.access, "taken")],
      result: undefined,
    };
  });
}

/** Returns an access with the caller's abilities. The caller needs a role on the live document. */
async function loadAccess(
  deps: SharingDeps,
  viewer: StoredUser,
  id: string,
  accessId: string,
): Promise<{ readonly documentAccess: DocumentAccess; readonly shown: ShownAccess }> {
  const documentAccess = await authorize(deps, viewer, id, "accesses_view");
  await completeMoves(deps, [documentAccess.document]);
  const access = await deps.tables.get(accessesTable, accessKey(id, accessId));
  if (access === undefined) throw new ApiError("not_found", "No DocumentAccess matches the given query.");
  const user = access.user === null ? undefined : await findUser(deps, access.user);
  const known = { callerRole: documentAccess.role, user, maxAncestorsRole: null };
  return { documentAccess, shown: toShownAccess(access, documentAccess, viewer, known) };
}
