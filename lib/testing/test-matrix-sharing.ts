import { ROLES, type Role } from "../documents/access/roles.ts";
import { accessRequestId } from "../documents/tables/access-requests.ts";
import { accessId } from "../documents/tables/accesses.ts";
import type { Participant } from "./test-document-fixtures.ts";
import { invitationOf } from "./test-document-records.ts";
import type { RequestContext, Row } from "./test-matrix.ts";
import { CALLER_NAMES, type Situation, standingOf } from "./test-situations.ts";

const ACCESSES = "/documents/{id}/accesses";
const ACCESS = `${ACCESSES}/{accessId}`;
const INVITATIONS = "/documents/{id}/invitations";
const INVITATION = `${INVITATIONS}/{invitationId}`;
const REQUESTS = "/documents/{id}/ask-for-access";
const REQUEST = `${REQUESTS}/{requestId}`;
const NO_ID = "01900000-0000-7000-8000-000000000000";

const rowOf = (player: (asked: RequestContext) => Participant) => ({
  params: (asked: RequestContext) => ({
    accessId: accessId(asked.id, { user: asked.userId(player(asked)) }),
  }),
});
const ofGuest = rowOf(() => "guest");
const ofOwner = rowOf(() => "owner");
const ofCaller = rowOf(({ caller }) => caller);
const invited = {
  params: ({ id }: RequestContext) => ({ invitationId: invitationOf(id) }),
  records: ["sharing"],
} as const;
const asked = {
  params: ({ id, userId: user }: RequestContext) => ({ requestId: accessRequestId(id, user("guest")) }),
  records: ["sharing"],
} as const;

const isManager = ({ caller }: Situation): boolean => caller === "administrator" || caller === "owner";
const forManagers =
  (status: number) =>
  (situation: Situation): number =>
    isManager(situation) ? status : 403;
const forOwners =
  (status: number, others: number) =>
  ({ caller }: Situation): number =>
    caller === "owner" ? status : others;
/** For an access on the document where the roles are set: its descendants do not have it. */
const whereSet =
  (status: (situation: Situation) => number) =>
  (situation: Situation): number =>
    situation.position === "inherited" ? 404 : status(situation);
/** The last owner of a root cannot be removed. */
const whereOwnerMayGo = whereSet(({ caller, position }) =>
  caller === "owner" && position !== "root" ? 204 : 403,
);

const MEMBERS = CALLER_NAMES.map((caller) => standingOf(caller).role).filter((role) => role !== null);
/** All accesses for callers who manage them; for others only those of administrators and owners. */
function rolesShownTo(situation: Situation): readonly Role[] {
  if (standingOf(situation.caller).role === null) return [];
  const all: readonly Role[] = [...MEMBERS, "commenter"];
  const light = all.filter((role) => role === "administrator" || role === "owner");
  return (isManager(situation) ? all : light).toSorted(
    (one, other) => ROLES.indexOf(one) - ROLES.indexOf(other),
  );
}

/** Accesses. Reference 1.9, 2.3. */
const ACCESS_ROWS: readonly Row[] = [
  {
    endpoint: `GET ${ACCESSES}`,
    ability: null,
    requiresUser: true,
    isReadOnly: true,
    // Only its owner can read a deleted document.
    status: ({ state }) => (state === "live" ? 200 : 403),
    expects: (rows: readonly { role: Role }[], situation) => [
      rows.map(({ role }) => role).toSorted((one, other) => ROLES.indexOf(one) - ROLES.indexOf(other)),
      rolesShownTo(situation),
    ],
  },
  {
    endpoint: `POST ${ACCESSES}`,
    ability: "accesses_manage",
    status: 201,
    requiresUser: true,
    body: { team: "writers", role: "administrator" },
  },
  {
    endpoint: `POST ${ACCESSES}`,
    variant: "of an owner",
    ability: "accesses_manage",
    requiresUser: true,
    body: { team: "writers", role: "owner" },
    status: forOwners(201, 403),
  },
  {
    endpoint: `POST ${ACCESSES}`,
    variant: "twice",
    ability: "accesses_manage",
    status: 400,
    requiresUser: true,
    body: ({ userId: user }: RequestContext) => ({ user_id: user("guest"), role: "reader" }),
  },
  {
    endpoint: `GET ${ACCESS}`,
    variant: "another's",
    ability: "accesses_view",
    requiresUser: true,
    ...ofGuest,
    status: forManagers(200),
    isReadOnly: true,
  },
  {
    endpoint: `GET ${ACCESS}`,
    variant: "one's own",
    ability: "accesses_view",
    requiresUser: true,
    ...ofCaller,
    status: whereSet(() => 200),
    isReadOnly: true,
  },
  {
    endpoint: `GET ${ACCESS}`,
    variant: "none",
    ability: "accesses_view",
    requiresUser: true,
    status: 404,
    params: { accessId: NO_ID },
  },
  ...["PUT", "PATCH"].flatMap((method): Row[] => [
    {
      endpoint: `${method} ${ACCESS}`,
      variant: "another's",
      ability: "accesses_view",
      requiresUser: true,
      body: { role: "editor" },
      status: forManagers(200),
      ...ofGuest,
    },
    {
      endpoint: `${method} ${ACCESS}`,
      variant: "to owner",
      ability: "accesses_view",
      requiresUser: true,
      body: { role: "owner" },
      status: forOwners(200, 403),
      ...ofGuest,
    },
    {
      endpoint: `${method} ${ACCESS}`,
      variant: "the owner's",
      ability: "accesses_view",
      requiresUser: true,
      body: { role: "reader" },
      ...ofOwner,
      status: whereSet(({ caller, position }) => (caller === "owner" && position !== "root" ? 200 : 403)),
    },
    {
      endpoint: `${method} ${ACCESS}`,
      variant: "one's own, up",
      ability: "accesses_view",
      requiresUser: true,
      body: { role: "owner" },
      ...ofCaller,
      // The role of an inherited owner cannot be lowered.
      status: whereSet(({ caller, position }) => (caller === "owner" && position !== "root" ? 200 : 403)),
    },
  ]),
  {
    endpoint: `DELETE ${ACCESS}`,
    variant: "another's",
    ability: "accesses_view",
    requiresUser: true,
    status: forManagers(204),
    ...ofGuest,
  },
  {
    endpoint: `DELETE ${ACCESS}`,
    variant: "the owner's",
    ability: "accesses_view",
    requiresUser: true,
    status: whereOwnerMayGo,
    ...ofOwner,
  },
];

/** Invitations: whoever manages accesses may read them, even with an inherited role. Reference 1.10. */
const INVITATION_ROWS: readonly Row[] = [
  {
    endpoint: `GET ${INVITATIONS}`,
    ability: null,
    status: 200,
    requiresUser: true,
    isReadOnly: true,
    expects: ({ count }, situation) => [count, isManager(situation) && situation.state === "live" ? 1 : 0],
  },
  {
    endpoint: `POST ${INVITATIONS}`,
    ability: "accesses_manage",
    status: 201,
    requiresUser: true,
    body: ({ id }: RequestContext) => ({ email: `${id}@example.com`, role: "editor" }),
  },
  {
    endpoint: `POST ${INVITATIONS}`,
    variant: "of an owner",
    ability: "accesses_manage",
    requiresUser: true,
    body: ({ id }: RequestContext) => ({ email: `${id}@example.com`, role: "owner" }),
    status: forOwners(201, 400),
  },
  {
    endpoint: `GET ${INVITATION}`,
    ability: "accesses_manage",
    status: 200,
    requiresUser: true,
    isReadOnly: true,
    ...invited,
  },
  {
    endpoint: `GET ${INVITATION}`,
    variant: "none",
    ability: "accesses_manage",
    status: 404,
    requiresUser: true,
    params: { invitationId: NO_ID },
  },
  {
    endpoint: `PUT ${INVITATION}`,
    ability: "accesses_manage",
    status: 200,
    requiresUser: true,
    ...invited,
    body: { email: "invited@example.com", role: "administrator" },
  },
  {
    endpoint: `PATCH ${INVITATION}`,
    ability: "accesses_manage",
    status: 200,
    requiresUser: true,
    ...invited,
    body: { role: "administrator" },
  },
  {
    endpoint: `PATCH ${INVITATION}`,
    variant: "to owner",
    ability: "accesses_manage",
    requiresUser: true,
    body: { role: "owner" },
    status: forOwners(200, 400),
    ...invited,
  },
  {
    endpoint: `DELETE ${INVITATION}`,
    ability: "accesses_manage",
    status: 204,
    requiresUser: true,
    ...invited,
  },
];

/** Access requests, on roots only. Reference 1.11. */
const REQUEST_ROWS: readonly Row[] = [
  {
    endpoint: `POST ${REQUESTS}`,
    ability: null,
    requiresUser: true,
    isRootOnly: true,
    body: {},
    // Users with a higher role, and users with a pending request, cannot request access.
    status: (situation) => (isManager(situation) || situation.caller === "commenter" ? 400 : 201),
    records: ["sharing"],
  },
  {
    endpoint: `GET ${REQUESTS}`,
    ability: null,
    status: 200,
    requiresUser: true,
    isRootOnly: true,
    isReadOnly: true,
    expects: ({ count }, situation) => [
      count,
      isManager(situation) && situation.state === "live" ? 2 : situation.caller === "commenter" ? 1 : 0,
    ],
  },
  {
    endpoint: `GET ${REQUEST}`,
    ability: "accesses_manage",
    status: 200,
    requiresUser: true,
    isRootOnly: true,
    isReadOnly: true,
    ...asked,
  },
  {
    endpoint: `DELETE ${REQUEST}`,
    ability: "accesses_manage",
    status: 204,
    requiresUser: true,
    isRootOnly: true,
    ...asked,
  },
  {
    endpoint: `POST ${REQUEST}/accept`,
    ability: "accesses_manage",
    status: 204,
    requiresUser: true,
    isRootOnly: true,
    body: {},
    ...asked,
  },
  {
    endpoint: `POST ${REQUEST}/accept`,
    variant: "as owner",
    ability: "accesses_manage",
    requiresUser: true,
    isRootOnly: true,
    body: { role: "owner" },
    status: forOwners(204, 400),
    ...asked,
  },
];

/** Endpoints of a document's accesses. */
export const SHARING_ROWS: readonly Row[] = [...ACCESS_ROWS, ...INVITATION_ROWS, ...REQUEST_ROWS];
