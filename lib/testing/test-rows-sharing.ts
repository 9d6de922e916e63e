import { ROLES, type Role } from "../documents/access/roles.ts";
import { accessRequestId } from "../documents/tables/access-requests.ts";
import { accessId } from "../documents/tables/accesses.ts";
import { invitationOf } from "./test-belongings.ts";
import type { Asked, Row } from "./test-matrix.ts";
import { askers, asksAs, type Situation } from "./test-situations.ts";
import type { Player } from "./test-stage.ts";

const ACCESSES = "/documents/{id}/accesses";
const ACCESS = `${ACCESSES}/{accessId}`;
const INVITATIONS = "/documents/{id}/invitations";
const INVITATION = `${INVITATIONS}/{invitationId}`;
const REQUESTS = "/documents/{id}/ask-for-access";
const REQUEST = `${REQUESTS}/{requestId}`;
const NO_ID = "01900000-0000-7000-8000-000000000000";

const rowOf = (player: (asked: Asked) => Player) => ({
  params: (asked: Asked) => ({ accessId: accessId(asked.id, { user: asked.user(player(asked)) }) }),
});
const ofGuest = rowOf(() => "guest");
const ofOwner = rowOf(() => "owner");
const ofAsker = rowOf(({ asker }) => asker);
const invited = {
  params: ({ id }: Asked) => ({ invitationId: invitationOf(id) }),
  needs: ["sharing"],
} as const;
const asked = {
  params: ({ id, user }: Asked) => ({ requestId: accessRequestId(id, user("guest")) }),
  needs: ["sharing"],
} as const;

const isManager = ({ asker }: Situation): boolean => asker === "administrator" || asker === "owner";
const forManagers =
  (status: number) =>
  (situation: Situation): number =>
    isManager(situation) ? status : 403;
const forOwners =
  (status: number, others: number) =>
  ({ asker }: Situation): number =>
    asker === "owner" ? status : others;
/** Of a row that lies where the roles are set: below that, the document has no such row. */
const whereSet =
  (status: (situation: Situation) => number) =>
  (situation: Situation): number =>
    situation.place === "inherited" ? 404 : status(situation);
/** The only owner of a root stays one. */
const whereOwnerMayGo = whereSet(({ asker, place }) => (asker === "owner" && place !== "root" ? 204 : 403));

const MEMBERS = askers.map((asker) => asksAs(asker).role).filter((role) => role !== null);
/** Everybody's rows for who manages accesses; else those of the managers alone. */
function rolesShownTo(situation: Situation): readonly Role[] {
  if (asksAs(situation.asker).role === null) return [];
  const all: readonly Role[] = [...MEMBERS, "commenter"];
  const light = all.filter((role) => role === "administrator" || role === "owner");
  return (isManager(situation) ? all : light).toSorted(
    (one, other) => ROLES.indexOf(one) - ROLES.indexOf(other),
  );
}

/** Rows of access. Reference 1.9, 2.3. */
const ACCESS_ROWS: readonly Row[] = [
  {
    ...{ endpoint: `GET ${ACCESSES}`, ability: null, isNamed: true, reads: true },
    // Nobody but its owner finds what is deleted.
    status: ({ state }) => (state === "live" ? 200 : 403),
    says: (rows: readonly { role: Role }[], situation) => [
      rows.map(({ role }) => role).toSorted((one, other) => ROLES.indexOf(one) - ROLES.indexOf(other)),
      rolesShownTo(situation),
    ],
  },
  {
    ...{ endpoint: `POST ${ACCESSES}`, ability: "accesses_manage", status: 201, isNamed: true },
    body: { team: "writers", role: "administrator" },
  },
  {
    ...{ endpoint: `POST ${ACCESSES}`, about: "of an owner", ability: "accesses_manage", isNamed: true },
    ...{ body: { team: "writers", role: "owner" }, status: forOwners(201, 403) },
  },
  {
    ...{
      endpoint: `POST ${ACCESSES}`,
      about: "twice",
      ability: "accesses_manage",
      status: 400,
      isNamed: true,
    },
    body: ({ user }: Asked) => ({ user_id: user("guest"), role: "reader" }),
  },
  {
    ...{ endpoint: `GET ${ACCESS}`, about: "another's", ability: "accesses_view", isNamed: true, ...ofGuest },
    ...{ status: forManagers(200), reads: true },
  },
  {
    ...{ endpoint: `GET ${ACCESS}`, about: "one's own", ability: "accesses_view", isNamed: true, ...ofAsker },
    ...{ status: whereSet(() => 200), reads: true },
  },
  {
    ...{ endpoint: `GET ${ACCESS}`, about: "none", ability: "accesses_view", isNamed: true, status: 404 },
    params: { accessId: NO_ID },
  },
  ...["PUT", "PATCH"].flatMap((method): Row[] => [
    {
      ...{ endpoint: `${method} ${ACCESS}`, about: "another's", ability: "accesses_view", isNamed: true },
      ...{ body: { role: "editor" }, status: forManagers(200), ...ofGuest },
    },
    {
      ...{ endpoint: `${method} ${ACCESS}`, about: "to owner", ability: "accesses_view", isNamed: true },
      ...{ body: { role: "owner" }, status: forOwners(200, 403), ...ofGuest },
    },
    {
      ...{ endpoint: `${method} ${ACCESS}`, about: "the owner's", ability: "accesses_view", isNamed: true },
      ...{ body: { role: "reader" }, ...ofOwner },
      status: whereSet(({ asker, place }) => (asker === "owner" && place !== "root" ? 200 : 403)),
    },
    {
      ...{ endpoint: `${method} ${ACCESS}`, about: "one's own, up", ability: "accesses_view", isNamed: true },
      ...{ body: { role: "owner" }, ...ofAsker },
      // An owner stays what they are, where they could be something else.
      status: whereSet(({ asker, place }) => (asker === "owner" && place !== "root" ? 200 : 403)),
    },
  ]),
  {
    ...{ endpoint: `DELETE ${ACCESS}`, about: "another's", ability: "accesses_view", isNamed: true },
    ...{ status: forManagers(204), ...ofGuest },
  },
  {
    ...{ endpoint: `DELETE ${ACCESS}`, about: "the owner's", ability: "accesses_view", isNamed: true },
    ...{ status: whereOwnerMayGo, ...ofOwner },
  },
];

/** Invitations: whoever manages accesses has them, be it from above. Reference 1.10. */
const INVITATION_ROWS: readonly Row[] = [
  {
    ...{ endpoint: `GET ${INVITATIONS}`, ability: null, status: 200, isNamed: true, reads: true },
    says: ({ count }, situation) => [count, isManager(situation) && situation.state === "live" ? 1 : 0],
  },
  {
    ...{ endpoint: `POST ${INVITATIONS}`, ability: "accesses_manage", status: 201, isNamed: true },
    body: ({ id }: Asked) => ({ email: `${id}@example.com`, role: "editor" }),
  },
  {
    ...{ endpoint: `POST ${INVITATIONS}`, about: "of an owner", ability: "accesses_manage", isNamed: true },
    body: ({ id }: Asked) => ({ email: `${id}@example.com`, role: "owner" }),
    status: forOwners(201, 400),
  },
  {
    ...{ endpoint: `GET ${INVITATION}`, ability: "accesses_manage", status: 200, isNamed: true },
    ...{ reads: true, ...invited },
  },
  {
    ...{
      endpoint: `GET ${INVITATION}`,
      about: "none",
      ability: "accesses_manage",
      status: 404,
      isNamed: true,
    },
    params: { invitationId: NO_ID },
  },
  {
    ...{ endpoint: `PUT ${INVITATION}`, ability: "accesses_manage", status: 200, isNamed: true, ...invited },
    body: { email: "invited@example.com", role: "administrator" },
  },
  {
    ...{
      endpoint: `PATCH ${INVITATION}`,
      ability: "accesses_manage",
      status: 200,
      isNamed: true,
      ...invited,
    },
    body: { role: "administrator" },
  },
  {
    ...{ endpoint: `PATCH ${INVITATION}`, about: "to owner", ability: "accesses_manage", isNamed: true },
    ...{ body: { role: "owner" }, status: forOwners(200, 400), ...invited },
  },
  { endpoint: `DELETE ${INVITATION}`, ability: "accesses_manage", status: 204, isNamed: true, ...invited },
];

/** Requests for access, of roots. Reference 1.11. */
const REQUEST_ROWS: readonly Row[] = [
  {
    ...{ endpoint: `POST ${REQUESTS}`, ability: null, isNamed: true, isOfRoots: true, body: {} },
    // Who has more than can be asked for, and who has asked, do not ask.
    status: (situation) => (isManager(situation) || situation.asker === "commenter" ? 400 : 201),
    needs: ["sharing"],
  },
  {
    ...{
      endpoint: `GET ${REQUESTS}`,
      ability: null,
      status: 200,
      isNamed: true,
      isOfRoots: true,
      reads: true,
    },
    says: ({ count }, situation) => [
      count,
      isManager(situation) && situation.state === "live" ? 2 : situation.asker === "commenter" ? 1 : 0,
    ],
  },
  {
    ...{
      endpoint: `GET ${REQUEST}`,
      ability: "accesses_manage",
      status: 200,
      isNamed: true,
      isOfRoots: true,
    },
    ...{ reads: true, ...asked },
  },
  {
    ...{ endpoint: `DELETE ${REQUEST}`, ability: "accesses_manage", status: 204, isNamed: true },
    ...{ isOfRoots: true, ...asked },
  },
  {
    ...{ endpoint: `POST ${REQUEST}/accept`, ability: "accesses_manage", status: 204, isNamed: true },
    ...{ isOfRoots: true, body: {}, ...asked },
  },
  {
    ...{ endpoint: `POST ${REQUEST}/accept`, about: "as owner", ability: "accesses_manage", isNamed: true },
    ...{ isOfRoots: true, body: { role: "owner" }, status: forOwners(204, 400), ...asked },
  },
];

/** Endpoints of who has access to a document. */
export const SHARING_ROWS: readonly Row[] = [...ACCESS_ROWS, ...INVITATION_ROWS, ...REQUEST_ROWS];
