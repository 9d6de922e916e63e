import { ApiError } from "../../errors.ts";
import { readAll } from "../../events/read-all.ts";
import type { PageRequest } from "../../http/page.ts";
import type { Write } from "../../platform/tables.ts";
import { higherRole, isPrivileged, type Role, rolesUpTo } from "../access/roles.ts";
import { accessDenied, type DocumentAccess, findDocument } from "../authorization/document-access.ts";
import { commitChange } from "../changes/commit.ts";
import { documentEvent, sharedEvent } from "../events/document-event.ts";
import { ACCESSES_MAX, planGrant, planRoleChange } from "../grants/grants.ts";
import { completeMoves } from "../grants/staged-accesses.ts";
import { planMail } from "../mail/queue.ts";
import {
  accessRequestId,
  accessRequestKey,
  accessRequestsTable,
  type StoredAccessRequest,
} from "../tables/access-requests.ts";
import { accessesTable, accessId, accessKey } from "../tables/accesses.ts";
import type { StoredDocument } from "../tables/documents.ts";
import { type StoredUser, userKey, usersTable } from "../tables/users.ts";
import { findUser } from "../users/users.ts";
import { type AccessRequestRecord, toAccessRequest } from "./access-request-record.ts";
import { compareByCreation, type SharingDeps } from "./deps.ts";

/** Maximum owners and administrators who get an email. */
const MAILED_MANAGERS_MAX = 50;

/** Returns a root. Only roots have access requests, because descendants inherit accesses. Throws `not_found`. */
async function findRoot(deps: SharingDeps, viewer: StoredUser, id: string): Promise<DocumentAccess> {
  const documentAccess = await findDocument(deps, viewer, id);
  if (documentAccess.document.parent !== null) throw new ApiError("not_found", "Document not found.");
  return documentAccess;
}

/** Throws `not_found`, and `forbidden` unless the viewer is an administrator or owner. */
async function authorizeManager(deps: SharingDeps, viewer: StoredUser, id: string): Promise<DocumentAccess> {
  const documentAccess = await findRoot(deps, viewer, id);
  if (!documentAccess.abilities.accesses_manage) throw accessDenied(viewer);
  return documentAccess;
}

/**
 * Requests a role on a root, once per user; its owners and administrators get an email. Throws `bad_request` if the
 * caller is one of them or has already requested, `not_found`. Reference 1.11.
 */
export async function requestAccess(
  deps: SharingDeps,
  viewer: StoredUser,
  document: string,
  role: Role,
): Promise<void> {
  await commitChange(deps, async () => {
    const documentAccess = await findRoot(deps, viewer, document);
    if (isPrivileged(documentAccess.role))
      throw new ApiError("bad_request", "You already have privileged access to this document.");
    const id = accessRequestId(document, viewer.id);
    const key = accessRequestKey(document, id);
    if ((await deps.tables.get(accessRequestsTable, key)) !== undefined)
      throw new ApiError("bad_request", "You already ask to access to this document.");
    const created_at = new Date(deps.clock.now()).toISOString();
    const item: StoredAccessRequest = { ...key, id, document, user: viewer.id, role, created_at };
    const asked = await readManagers(deps, documentAccess.document);
    return {
      writes: [
        { op: "put", table: accessRequestsTable, item, when: [["pk", "missing"]] },
        ...asked.flatMap(({ id: user, email, language }) =>
          planMail(deps, {
            kind: "asked",
            to: email,
            user,
            language,
            role,
            document: documentAccess.document,
            sender: viewer,
          }),
        ),
      ],
      events: [documentEvent("documents.access_requested", documentAccess.document, viewer, { role })],
      result: undefined,
    };
  });
}

/** Reads the first owners and administrators. */
async function readManagers(deps: SharingDeps, document: StoredDocument): Promise<StoredUser[]> {
  await completeMoves(deps, [document]);
  const rows = await readAll(deps, accessesTable, { pk: document.id });
  const ids = rows.flatMap(({ user, role }) => (user !== null && isPrivileged(role) ? [user] : []));
  const users = await deps.tables.batchGet(usersTable, ids.slice(0, MAILED_MANAGERS_MAX).map(userKey));
  return users.filter(({ is_active }) => is_active);
}

/**
 * Lists a page of a root's access requests, oldest first, and their total count: all for administrators and owners,
 * their own for others. Throws `not_found`. Reference 1.11.
 */
export async function listAccessRequests(
  deps: SharingDeps,
  viewer: StoredUser,
  id: string,
  { offset, limit }: PageRequest,
): Promise<{ readonly count: number; readonly results: readonly AccessRequestRecord[] }> {
  const documentAccess = await findRoot(deps, viewer, id);
  const own = await deps.tables.get(
    accessRequestsTable,
    accessRequestKey(id, accessRequestId(id, viewer.id)),
  );
  const all = documentAccess.abilities.accesses_manage
    ? await readAll(deps, accessRequestsTable, { pk: id })
    : own === undefined
      ? []
      : [own];
  const sorted = all.toSorted(compareByCreation);
  const page = sorted.slice(offset, offset + limit);
  const users = await deps.tables.batchGet(
    usersTable,
    page.map(({ user }) => userKey(user)),
  );
  const known = new Map(users.map((user) => [user.id, user]));
  return {
    count: sorted.length,
    results: page.flatMap((request) => {
      const user = known.get(request.user);
      return user === undefined ? [] : [toAccessRequest(request, user, documentAccess.role)];
    }),
  };
}

/** Throws `not_found`, `forbidden`. Reference 1.11. */
export async function getAccessRequest(
  deps: SharingDeps,
  viewer: StoredUser,
  id: string,
  requestId: string,
): Promise<AccessRequestRecord> {
  const documentAccess = await authorizeManager(deps, viewer, id);
  const request = await readRequest(deps, id, requestId);
  const user = await findUser(deps, request.user);
  if (user === undefined) throw noRequest();
  return toAccessRequest(request, user, documentAccess.role);
}

/** Throws `not_found`, `forbidden`. Reference 1.11. */
export async function deleteAccessRequest(
  deps: SharingDeps,
  viewer: StoredUser,
  id: string,
  requestId: string,
): Promise<void> {
  await authorizeManager(deps, viewer, id);
  const { pk, sk } = await readRequest(deps, id, requestId);
  await deps.tables.write([{ op: "delete", table: accessRequestsTable, key: { pk, sk } }]);
}

/**
 * Grants the requested role or another one; never lowers a role. Throws `bad_request` for a role above the caller's,
 * `not_found`, `forbidden`. Reference 1.11.
 */
export async function acceptAccessRequest(
  deps: SharingDeps,
  viewer: StoredUser,
  id: string,
  requestId: string,
  wanted: Role | null,
): Promise<void> {
  await commitChange(deps, async () => {
    const documentAccess = await authorizeManager(deps, viewer, id);
    const request = await readRequest(deps, id, requestId);
    const asked = wanted ?? request.role;
    if (documentAccess.role === null || !rolesUpTo(documentAccess.role).includes(asked))
      throw new ApiError("bad_request", "You cannot accept a role higher than your own.");
    const grantee = { user: request.user };
    const access = await deps.tables.get(accessesTable, accessKey(id, accessId(id, grantee)));
    const role = higherRole(access?.role ?? null, asked) ?? asked;
    const gone: Write = {
      op: "delete",
      table: accessRequestsTable,
      key: { pk: request.pk, sk: request.sk },
      when: [["pk", "exists"]],
    };
    if (access?.role === role) return { writes: [gone], events: [], result: undefined };
    if (access === undefined && documentAccess.document.accesses >= ACCESSES_MAX)
      throw new ApiError(
        "bad_request",
        `This document has reached its limit of ${ACCESSES_MAX.toLocaleString("en")} members.`,
      );
    const given =
      access === undefined
        ? planGrant(deps, documentAccess.document, grantee, role).writes
        : planRoleChange(documentAccess.document, access, role);
    return {
      writes: [gone, ...given],
      events: [sharedEvent(documentAccess.document, viewer, { ...grantee, team: null, role }, "given")],
      result: undefined,
    };
  });
}

async function readRequest(deps: SharingDeps, document: string, id: string): Promise<StoredAccessRequest> {
  const request = await deps.tables.get(accessRequestsTable, accessRequestKey(document, id));
  if (request === undefined) throw noRequest();
  return request;
}

const noRequest = (): ApiError =>
  new ApiError("not_found", "No DocumentAskForAccess matches the given query.");
