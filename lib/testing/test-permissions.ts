import type { Ability, AccessContext } from "../documents/access/abilities.ts";
import { type LinkRole, linkSelectOptions } from "../documents/access/links.ts";
import { ROLES, type Role } from "../documents/access/roles.ts";
import { accessRequestId } from "../documents/tables/access-requests.ts";
import { accessId } from "../documents/tables/accesses.ts";
import type { Participant } from "./test-document-fixtures.ts";
import {
  commentOf,
  EARLIER_VERSION,
  EMOJI,
  invitationOf,
  LATEST_VERSION,
  threadOf,
  uploadOf,
} from "./test-document-records.ts";
import type { RequestContext, Row } from "./test-matrix.ts";
import { CALLER_NAMES, expectedStanding, type Situation, standingOf } from "./test-situations.ts";

/** The columns of the abilities: the viewer's role, or the role of the link that reaches a viewer without a role. */
export const COLUMNS = [
  "none",
  "link reader",
  "link commenter",
  "link editor",
  "reader",
  "commenter",
  "editor",
  "administrator",
  "owner",
] as const;
type Column = (typeof COLUMNS)[number];

export interface AbilityRow {
  readonly abilities: readonly Ability[];
  /** `x` for each column whose viewers have the abilities on a child that is not deleted. */
  readonly columns: string;
  /** The columns on a root, if they differ. */
  readonly onRoot?: string;
  /** Anonymous viewers never have the abilities. */
  readonly requiresUser?: true;
  /** The owner keeps the abilities on a deleted document; all others are lost. */
  readonly survivesDeletion?: true;
  /** The creator of a child has the abilities, too. */
  readonly ofCreator?: true;
  /** Users without a role who have opened the document have the abilities, too. */
  readonly ofVisitor?: true;
}

/** Who has which ability on a document. Reference 2.3. */
export const ABILITY_ROWS: readonly AbilityRow[] = [
  { abilities: ["retrieve", "content_retrieve", "tree"], columns: "_xxxxxxxx", survivesDeletion: true },
  {
    abilities: [
      "children_list",
      "search",
      "media_auth",
      "media_check",
      "cors_proxy",
      "formatted_content",
      "collaboration_auth",
      "descendants",
    ],
    columns: "_xxxxxxxx",
  },
  { abilities: ["duplicate", "favorite", "mask"], columns: "_xxxxxxxx", requiresUser: true },
  { abilities: ["accesses_view", "versions_list", "versions_retrieve"], columns: "____xxxxx" },
  { abilities: ["comment"], columns: "__xx_xxxx" },
  {
    abilities: ["update", "partial_update", "content_patch", "can_edit", "attachment_upload"],
    columns: "___x__xxx",
  },
  {
    // Language models are for authenticated users by default.
    abilities: ["children_create", "ai_proxy", "ai_transform", "ai_translate"],
    columns: "___x__xxx",
    requiresUser: true,
  },
  {
    abilities: ["accesses_manage", "link_configuration", "move", "versions_destroy"],
    columns: "_______xx",
  },
  { abilities: ["destroy"], columns: "_______xx", onRoot: "________x", ofCreator: true },
  { abilities: ["invite_owner"], columns: "________x" },
  { abilities: ["restore"], columns: "________x", survivesDeletion: true },
  { abilities: ["leave"], columns: "____xxx__", requiresUser: true, ofVisitor: true },
];

/** The columns that a viewer is in. */
function columnsOf({ role, link, isAuthenticated }: AccessContext): readonly Column[] {
  const isReached = link.reach === "public" || (link.reach === "authenticated" && isAuthenticated);
  const linkRole: LinkRole | null = isReached ? link.role : null;
  const columns: Column[] = [
    ...(role === null ? [] : [role]),
    ...(linkRole === null ? [] : [`link ${linkRole}` as const]),
  ];
  return columns.length === 0 ? ["none"] : columns;
}

function isAllowed(row: AbilityRow, context: AccessContext): boolean {
  const { role, isDeleted, isRoot, isAuthenticated, isCreator, hasTrace } = context;
  if (isDeleted) return row.survivesDeletion === true && role === "owner";
  if (row.requiresUser === true && !isAuthenticated) return false;
  if (row.ofCreator === true && isCreator && !isRoot) return true;
  if (row.ofVisitor === true && hasTrace && role === null) return true;
  const columns = isRoot ? (row.onRoot ?? row.columns) : row.columns;
  return columnsOf(context).some((column) => columns[COLUMNS.indexOf(column)] === "x");
}

const ROW_OF = new Map(
  ABILITY_ROWS.flatMap((row) => row.abilities.map((ability) => [ability, row] as const)),
);

/** Whether a viewer has an ability according to the table. */
export function isExpected(ability: Ability, context: AccessContext): boolean {
  const row = ROW_OF.get(ability);
  return row !== undefined && isAllowed(row, context);
}

/** The viewer's abilities according to the table. */
export const expectedAbilities = (context: AccessContext): Readonly<Record<string, boolean>> =>
  Object.fromEntries([...ROW_OF.keys()].map((ability) => [ability, isExpected(ability, context)]));

const DOCUMENT = "/documents/{id}";
const NO_ID = "01900000-0000-7000-8000-000000000000";
const READ = { isReadOnly: true } as const;
const USER = { requiresUser: true } as const;
const ROOT = { isRootOnly: true } as const;

/**
 * A row of the table: an endpoint with what distinguishes the row, such as `GET /documents/{id}/children, an invalid
 * page`; the ability that it requires; its status for callers who have the ability.
 */
function row(
  name: string,
  ability: Ability | null,
  status: Row["status"],
  more: Omit<Row, "endpoint" | "variant" | "ability" | "status"> = {},
): Row {
  const comma = name.indexOf(", ");
  const named =
    comma < 0 ? { endpoint: name } : { endpoint: name.slice(0, comma), variant: name.slice(comma + 2) };
  return { ...named, ability, status, ...more };
}

const isManager = ({ caller }: Situation): boolean => caller === "administrator" || caller === "owner";
/** A status for some callers; the others are denied. */
const statusIf =
  (isGranted: (situation: Situation) => boolean) =>
  (status: number): Row["status"] =>
  (situation, denied) =>
    isGranted(situation) ? status : denied;
const forManagers = statusIf(isManager);
const isUser = ({ caller }: Situation): boolean => caller !== "anonymous";
const forUsers = statusIf(isUser);
const forNobody: Row["status"] = (_, denied) => denied;
const forOwners =
  (status: number, others: number) =>
  ({ caller }: Situation): number =>
    caller === "owner" ? status : others;
/** A status for the user who has opened the document by its link. */
const forVisitors =
  (status: number) =>
  ({ caller }: Situation): number =>
    caller === "link-only" ? status : 400;

/** AI functions, which are disabled by default. Reference 6. */
const AI_ROWS: readonly Row[] = [
  row(`POST ${DOCUMENT}/ai-transform`, "ai_transform", 400, {
    ...READ,
    body: { text: "x", action: "correct" },
  }),
  row(`POST ${DOCUMENT}/ai-transform, an invalid body`, "ai_transform", 400, { ...READ, body: {} }),
  row(`POST ${DOCUMENT}/ai-proxy`, "ai_proxy", 400, { ...READ, body: { messages: [] } }),
  row(`POST ${DOCUMENT}/ai-translate`, "ai_translate", 400, { ...READ, body: { text: "x", language: "fr" } }),
];

/** Endpoints of a document itself, and of its relation to the caller. Reference 1.2, 1.3, 1.6. */
const DOCUMENT_ROWS: readonly Row[] = [
  row(`GET ${DOCUMENT}`, "retrieve", 200, {
    expects: ({ abilities }, asked) => {
      const context = expectedStanding(asked);
      const link_select_options = linkSelectOptions(context.ancestorsLink);
      return [sorted(abilities), sorted({ ...expectedAbilities(context), link_select_options })];
    },
  }),
  row(`PUT ${DOCUMENT}`, "update", 200, { body: { title: "x" } }),
  row(`PATCH ${DOCUMENT}`, "partial_update", 200, { body: { title: "x" } }),
  row(`DELETE ${DOCUMENT}`, "destroy", 204),
  row(`POST ${DOCUMENT}/restore`, "restore", ({ state }) => (state === "deleted" ? 200 : 400)),
  row(`GET ${DOCUMENT}/children`, "children_list", 200, READ),
  row(`GET ${DOCUMENT}/children, an invalid page`, "children_list", 404, { ...READ, query: { page: "x" } }),
  row(`POST ${DOCUMENT}/children`, "children_create", 201, { ...USER, body: {} }),
  row(`GET ${DOCUMENT}/tree`, "tree", 200, { ...READ, deniesDeleted: true }),
  row(`POST ${DOCUMENT}/move`, "move", 200, {
    body: ({ moveTarget }: RequestContext) => ({ target_document_id: moveTarget }),
  }),
  row(`POST ${DOCUMENT}/duplicate`, "duplicate", 201, {
    ...USER,
    body: { with_accesses: true, with_descendants: true },
  }),
  row(`PUT ${DOCUMENT}/link-configuration`, "link_configuration", 200, {
    body: { link_reach: "public", link_role: "editor" },
  }),
  row(`POST ${DOCUMENT}/favorite`, "favorite", 201, USER),
  row(`POST ${DOCUMENT}/favorite, a favorite already`, "favorite", 200, { ...USER, records: ["marks"] }),
  row(`DELETE ${DOCUMENT}/favorite`, "favorite", 204, { ...USER, records: ["marks"] }),
  row(`DELETE ${DOCUMENT}/favorite, no favorite`, "favorite", 200, USER),
  row(`POST ${DOCUMENT}/mask`, "mask", forVisitors(201), USER),
  row(`POST ${DOCUMENT}/mask, masked already`, "mask", forVisitors(200), { ...USER, records: ["marks"] }),
  row(`DELETE ${DOCUMENT}/mask`, "mask", forVisitors(204), { ...USER, records: ["marks"] }),
  row(`DELETE ${DOCUMENT}/mask, not masked`, "mask", forVisitors(200), USER),
  row(`POST ${DOCUMENT}/leave`, "leave", 204, USER),
];

function sorted(abilities: Readonly<Record<string, unknown>>) {
  return Object.entries(abilities).toSorted(([one], [other]) => (one < other ? -1 : 1));
}

/** Search in a document. Reference 1.4. */
const SEARCH_ROWS: readonly Row[] = [
  row("GET /documents/search", "search", 200, {
    ...READ,
    deniedAnonymous: 403,
    query: ({ id }: RequestContext) => ({ q: "", document: id }),
    // These contain only themselves.
    expects: ({ results }: { results: readonly { id: string }[] }, { id }) => [
      results.map((one) => one.id),
      [id],
    ],
  }),
  row("GET /documents/search, an invalid page", "search", 404, {
    ...READ,
    deniedAnonymous: 403,
    query: ({ id }: RequestContext) => ({ q: "", document: id, page: "x" }),
  }),
];

const UPLOADS = `${DOCUMENT}/content-uploads`;
const ATTACHMENT_UPLOADS = `${DOCUMENT}/attachment-uploads`;
const VERSIONS = `${DOCUMENT}/versions`;
const VERSION = `${VERSIONS}/{versionId}`;
const NO_VERSION = "01900000-0000-7000-8000-000000000003";
const versionIs = (versionId: string) => ({ params: { versionId } });
// Not 401, unlike all other endpoints.
const anonymous403 = { statusBefore: ({ caller }: Situation) => (caller === "anonymous" ? 403 : undefined) };

/** A deleted document has no updates, also for its owner. */
const NOT_DELETED = {
  statusBefore: ({ state }: Situation) => (state === "live" ? undefined : 404),
} satisfies Partial<Row>;

/** Endpoints of a document's content. Reference 1.5, 1.7. */
const CONTENT_ROWS: readonly Row[] = [
  row(`GET ${DOCUMENT}/content`, "content_retrieve", 200, READ),
  row(`PATCH ${DOCUMENT}/content`, "content_patch", 204, {
    body: { content: Buffer.from("other text").toString("base64") },
  }),
  row(`PATCH ${DOCUMENT}/content, no base64`, "content_patch", 400, { body: { content: "?" } }),
  row(`POST ${DOCUMENT}/updates`, "content_patch", 200, { body: { updates: ["AAA="] }, ...NOT_DELETED }),
  row(`POST ${DOCUMENT}/updates, no base64`, "content_patch", 400, {
    body: { updates: ["?"] },
    ...NOT_DELETED,
  }),
  row(`POST ${UPLOADS}`, "content_patch", 201, { body: { bytes: 10 } }),
  row(`POST ${UPLOADS}, no size`, "content_patch", 400, { body: {} }),
  row(`POST ${UPLOADS}/{uploadId}/finish`, "content_patch", 204, {
    params: ({ id, caller }: RequestContext) => ({ uploadId: uploadOf(id, caller) }),
    records: ["upload"],
  }),
  row(`POST ${UPLOADS}/{uploadId}/finish, another's`, "content_patch", 404, {
    params: ({ id }: RequestContext) => ({ uploadId: uploadOf(id, "guest") }),
  }),
  row(`GET ${DOCUMENT}/formatted-content`, "formatted_content", 200, READ),
  row(`GET ${DOCUMENT}/export`, "content_retrieve", 200, { ...READ, query: { export_format: "json" } }),
  // Without a file, a key or a URL: whoever has the ability learns that it is missing.
  row(`POST ${DOCUMENT}/attachment-upload`, "attachment_upload", 400, READ),
  row(`POST ${DOCUMENT}/attachment-uploads`, "attachment_upload", 201, { body: { bytes: 5 } }),
  row(`POST ${ATTACHMENT_UPLOADS}/{uploadId}/finish`, "attachment_upload", 201, {
    records: ["content", "upload"],
    body: { name: "notes.txt" },
    params: ({ id, caller }: RequestContext) => ({ uploadId: uploadOf(id, caller) }),
  }),
  row(`POST ${ATTACHMENT_UPLOADS}/{uploadId}/finish, another user's upload`, "attachment_upload", 404, {
    body: { name: "notes.txt" },
    params: ({ id }: RequestContext) => ({ uploadId: uploadOf(id, "guest") }),
  }),
  row(`GET ${DOCUMENT}/media-check`, "media_check", 400, READ),
  row(`GET ${DOCUMENT}/attachments`, "media_check", 200, READ),
  row(`GET ${DOCUMENT}/cors-proxy`, null, 400, { ...READ, statusBefore: () => 400 }),
  row(`GET ${DOCUMENT}/cors-proxy, a loopback address`, "cors_proxy", 400, {
    ...READ,
    query: { url: "http://127.0.0.1/image.png" },
  }),
  row(`GET ${DOCUMENT}/media-check, an unknown key`, "media_check", 404, {
    ...READ,
    query: ({ id }: RequestContext) => ({ key: `${id}/attachments/${NO_ID}.png` }),
  }),
  row(`GET ${DOCUMENT}/updates`, "content_retrieve", 200, NOT_DELETED),
  row(`GET ${DOCUMENT}/can-edit`, "can_edit", 200, READ),
  row(`POST ${DOCUMENT}/collaboration-ticket`, "retrieve", 201, NOT_DELETED),
  row(`GET ${VERSIONS}`, "versions_list", 200, {
    ...READ,
    ...anonymous403,
    expects: ({ versions }) => [
      versions.map(({ version_id }: { version_id: string }) => version_id),
      [EARLIER_VERSION],
    ],
  }),
  row(`GET ${VERSIONS}, too large a page`, "versions_list", 400, {
    ...READ,
    ...anonymous403,
    query: { page_size: "51" },
  }),
  row(`GET ${VERSION}`, "versions_retrieve", 200, { ...READ, ...versionIs(EARLIER_VERSION) }),
  row(`GET ${VERSION}, none`, "versions_retrieve", 404, versionIs(NO_VERSION)),
  row(
    `POST ${VERSION}/restore`,
    "versions_retrieve",
    (situation, denied) => (isExpected("content_patch", expectedStanding(situation)) ? 204 : denied),
    { records: ["content"], ...versionIs(EARLIER_VERSION) },
  ),
  row(`POST ${VERSION}/restore, none`, "versions_retrieve", 404, versionIs(NO_VERSION)),
  row(`DELETE ${VERSION}`, "versions_destroy", 204, { records: ["content"], ...versionIs(EARLIER_VERSION) }),
  row(`DELETE ${VERSION}, the latest`, "versions_destroy", 400, versionIs(LATEST_VERSION)),
];

const ACCESSES = `${DOCUMENT}/accesses`;
const ACCESS = `${ACCESSES}/{accessId}`;
const accessOf = (player: (asked: RequestContext) => Participant) => ({
  ...USER,
  params: (asked: RequestContext) => ({
    accessId: accessId(asked.id, { user: asked.userId(player(asked)) }),
  }),
});
const ofGuest = accessOf(() => "guest");
const ofOwner = accessOf(() => "owner");
const ofCaller = accessOf(({ caller }) => caller);
/** For an access on the document where the roles are set: its descendants do not have it. */
const whereSet =
  (status: (situation: Situation) => number) =>
  (situation: Situation): number =>
    situation.position === "inherited" ? 404 : status(situation);
/** The last owner of a root cannot be changed or removed; the role of an inherited owner cannot be lowered. */
const whereOwnerMayChange = (status: number) =>
  whereSet(({ caller, position }) => (caller === "owner" && position !== "root" ? status : 403));
const byRole = (one: Role, other: Role): number => ROLES.indexOf(one) - ROLES.indexOf(other);
const MEMBERS = CALLER_NAMES.map((caller) => standingOf(caller).role).filter((role) => role !== null);
/** All accesses for callers who manage them; for others only those of administrators and owners. */
function rolesShownTo(situation: Situation): readonly Role[] {
  if (standingOf(situation.caller).role === null) return [];
  const all: readonly Role[] = [...MEMBERS, "commenter"];
  const light = all.filter((role) => role === "administrator" || role === "owner");
  return (isManager(situation) ? all : light).toSorted(byRole);
}

/** Accesses. Reference 1.9, 2.3. */
const ACCESS_ROWS: readonly Row[] = [
  // Only its owner can read a deleted document.
  row(`GET ${ACCESSES}`, null, ({ state }) => (state === "live" ? 200 : 403), {
    ...USER,
    ...READ,
    expects: (rows: readonly { role: Role }[], situation) => [
      rows.map(({ role }) => role).toSorted(byRole),
      rolesShownTo(situation),
    ],
  }),
  row(`POST ${ACCESSES}`, "accesses_manage", 201, {
    ...USER,
    body: { team: "writers", role: "administrator" },
  }),
  row(`POST ${ACCESSES}, of an owner`, "accesses_manage", forOwners(201, 403), {
    ...USER,
    body: { team: "writers", role: "owner" },
  }),
  row(`POST ${ACCESSES}, twice`, "accesses_manage", 400, {
    ...USER,
    body: ({ userId: user }: RequestContext) => ({ user_id: user("guest"), role: "reader" }),
  }),
  row(`GET ${ACCESS}, another's`, "accesses_view", forManagers(200), { ...ofGuest, ...READ }),
  row(
    `GET ${ACCESS}, one's own`,
    "accesses_view",
    whereSet(() => 200),
    { ...ofCaller, ...READ },
  ),
  row(`GET ${ACCESS}, none`, "accesses_view", 404, { ...USER, params: { accessId: NO_ID } }),
  ...["PUT", "PATCH"].flatMap((method) => [
    row(`${method} ${ACCESS}, another's`, "accesses_view", forManagers(200), {
      ...ofGuest,
      body: { role: "editor" },
    }),
    row(`${method} ${ACCESS}, to owner`, "accesses_view", forOwners(200, 403), {
      ...ofGuest,
      body: { role: "owner" },
    }),
    row(`${method} ${ACCESS}, the owner's`, "accesses_view", whereOwnerMayChange(200), {
      ...ofOwner,
      body: { role: "reader" },
    }),
    row(`${method} ${ACCESS}, one's own, up`, "accesses_view", whereOwnerMayChange(200), {
      ...ofCaller,
      body: { role: "owner" },
    }),
  ]),
  row(`DELETE ${ACCESS}, another's`, "accesses_view", forManagers(204), ofGuest),
  row(`DELETE ${ACCESS}, the owner's`, "accesses_view", whereOwnerMayChange(204), ofOwner),
];

const INVITATIONS = `${DOCUMENT}/invitations`;
const INVITATION = `${INVITATIONS}/{invitationId}`;
const invited = {
  ...USER,
  params: ({ id }: RequestContext) => ({ invitationId: invitationOf(id) }),
  records: ["sharing"],
} as const;
const inviteAs = (role: Role) => ({
  ...USER,
  body: ({ id }: RequestContext) => ({ email: `${id}@example.com`, role }),
});

/** Invitations: whoever manages accesses may read them, even with an inherited role. Reference 1.10. */
const INVITATION_ROWS: readonly Row[] = [
  row(`GET ${INVITATIONS}`, null, 200, {
    ...USER,
    ...READ,
    expects: ({ count }, situation) => [count, isManager(situation) && situation.state === "live" ? 1 : 0],
  }),
  row(`POST ${INVITATIONS}`, "accesses_manage", 201, inviteAs("editor")),
  row(`POST ${INVITATIONS}, of an owner`, "accesses_manage", forOwners(201, 400), inviteAs("owner")),
  row(`GET ${INVITATION}`, "accesses_manage", 200, { ...invited, ...READ }),
  row(`GET ${INVITATION}, none`, "accesses_manage", 404, { ...USER, params: { invitationId: NO_ID } }),
  row(`PUT ${INVITATION}`, "accesses_manage", 200, {
    ...invited,
    body: { email: "invited@example.com", role: "administrator" },
  }),
  row(`PATCH ${INVITATION}`, "accesses_manage", 200, { ...invited, body: { role: "administrator" } }),
  row(`PATCH ${INVITATION}, to owner`, "accesses_manage", forOwners(200, 400), {
    ...invited,
    body: { role: "owner" },
  }),
  row(`DELETE ${INVITATION}`, "accesses_manage", 204, invited),
];

const REQUESTS = `${DOCUMENT}/ask-for-access`;
const REQUEST = `${REQUESTS}/{requestId}`;
const requested = {
  ...USER,
  ...ROOT,
  params: ({ id, userId: user }: RequestContext) => ({ requestId: accessRequestId(id, user("guest")) }),
  records: ["sharing"],
} as const;
/** Users with a higher role, and users with a pending request, cannot request access. */
const whereMayRequest = (situation: Situation): number =>
  isManager(situation) || situation.caller === "commenter" ? 400 : 201;

/** Access requests, on roots only. Reference 1.11. */
const REQUEST_ROWS: readonly Row[] = [
  row(`POST ${REQUESTS}`, null, whereMayRequest, { ...USER, ...ROOT, body: {}, records: ["sharing"] }),
  row(`GET ${REQUESTS}`, null, 200, {
    ...USER,
    ...ROOT,
    ...READ,
    expects: ({ count }, situation) => [
      count,
      isManager(situation) && situation.state === "live" ? 2 : situation.caller === "commenter" ? 1 : 0,
    ],
  }),
  row(`GET ${REQUEST}`, "accesses_manage", 200, { ...requested, ...READ }),
  row(`DELETE ${REQUEST}`, "accesses_manage", 204, requested),
  row(`POST ${REQUEST}/accept`, "accesses_manage", 204, { ...requested, body: {} }),
  row(`POST ${REQUEST}/accept, as owner`, "accesses_manage", forOwners(204, 400), {
    ...requested,
    body: { role: "owner" },
  }),
];

const THREADS = `${DOCUMENT}/threads`;
const THREAD = `${THREADS}/{thread}`;
const COMMENTS = `${THREAD}/comments`;
const COMMENT = `${COMMENTS}/{comment}`;
const pathOf = (id: string, player: Participant) => ({
  thread: threadOf(id, player),
  comment: commentOf(id, player),
});
const own = {
  params: ({ id, caller }: RequestContext) => pathOf(id, caller),
  records: ["threads"],
} as const;
const others = { params: ({ id }: RequestContext) => pathOf(id, "guest"), records: ["threads"] } as const;
const text = { body: { body: 1 } };
const emoji = { body: { emoji: EMOJI } };

interface ShownThread {
  readonly abilities: Readonly<Record<string, boolean>>;
  readonly comments: readonly { readonly abilities: Readonly<Record<string, boolean>> }[];
}
/** The abilities on a thread and its comment in the response, and the expected ones, by those that vary. */
function threadAbilities(
  { abilities, comments: [comment] }: ShownThread,
  { ends, edits, reacts }: Readonly<Record<"ends" | "edits" | "reacts", boolean>>,
) {
  const ofThread = { destroy: ends, update: ends, partial_update: ends, resolve: ends, unresolve: ends };
  const ofComment = { destroy: ends, update: edits, partial_update: edits, reactions: reacts };
  return [
    [sorted(abilities), sorted(comment?.abilities ?? {})],
    [sorted({ ...ofThread, retrieve: true }), sorted({ ...ofComment, retrieve: true })],
  ] as const;
}

/** Endpoints of threads and comments, for the caller's own and for another user's. Reference 1.12. */
const THREAD_ROWS: readonly Row[] = [
  row(`GET ${THREADS}`, "comment", 200, {
    ...READ,
    expects: ({ length }) => [length, CALLER_NAMES.length + 1],
  }),
  row(`POST ${THREADS}`, "comment", 201, text),
  // Anonymous callers own nothing.
  row(`GET ${THREAD}, one's own`, "comment", 200, {
    ...READ,
    ...own,
    expects: (thread, asked) =>
      threadAbilities(thread, { ends: isUser(asked), edits: isUser(asked), reacts: isUser(asked) }),
  }),
  row(`GET ${THREAD}, another's`, "comment", 200, {
    ...READ,
    ...others,
    expects: (thread, asked) =>
      threadAbilities(thread, { ends: isManager(asked), edits: false, reacts: isUser(asked) }),
  }),
  row(`GET ${THREAD}, of another document`, "comment", 404, {
    params: ({ moveTarget }: RequestContext) => pathOf(moveTarget, "guest"),
  }),
  row(`DELETE ${THREAD}, one's own`, "comment", forUsers(204), own),
  row(`DELETE ${THREAD}, another's`, "comment", forManagers(204), others),
  row(`POST ${THREAD}/resolve, one's own`, "comment", forUsers(204), own),
  row(`POST ${THREAD}/resolve, another's`, "comment", forManagers(204), others),
  row(`POST ${THREAD}/unresolve, one's own`, "comment", forUsers(204), own),
  row(`POST ${THREAD}/unresolve, another's`, "comment", forManagers(204), others),
  row(`GET ${COMMENTS}, of one's own thread`, "comment", 200, {
    ...READ,
    ...own,
    expects: ({ count }) => [count, 1],
  }),
  row(`GET ${COMMENTS}`, "comment", 200, { ...READ, ...others, expects: ({ count }) => [count, 1] }),
  row(`GET ${COMMENTS}, an invalid page`, "comment", 404, { ...READ, query: { page: "x" }, ...others }),
  row(`POST ${COMMENTS}, in one's own thread`, "comment", 201, { ...text, ...own }),
  row(`POST ${COMMENTS}`, "comment", 201, { ...text, ...others }),
  row(`GET ${COMMENT}, one's own`, "comment", 200, { ...READ, ...own }),
  row(`GET ${COMMENT}`, "comment", 200, { ...READ, ...others }),
  ...["PUT", "PATCH"].flatMap((method) => [
    row(`${method} ${COMMENT}, one's own`, "comment", forUsers(200), { ...text, ...own }),
    row(`${method} ${COMMENT}, another's`, "comment", forNobody, { ...text, ...others }),
  ]),
  row(`DELETE ${COMMENT}, one's own`, "comment", forUsers(204), own),
  row(`DELETE ${COMMENT}, another's`, "comment", forManagers(204), others),
  row(`POST ${COMMENT}/reactions`, "comment", forUsers(201), { ...emoji, ...others }),
  row(`POST ${COMMENT}/reactions, again`, "comment", forUsers(400), { ...emoji, ...own }),
  row(`DELETE ${COMMENT}/reactions`, "comment", forUsers(204), { ...emoji, ...own }),
  row(`DELETE ${COMMENT}/reactions, another's`, "comment", forUsers(404), { ...emoji, ...others }),
];

/** The expected status of every endpoint of the document service that depends on permissions. */
export const ENDPOINT_ROWS: readonly Row[] = [
  ...AI_ROWS,
  ...DOCUMENT_ROWS,
  ...SEARCH_ROWS,
  ...CONTENT_ROWS,
  ...ACCESS_ROWS,
  ...INVITATION_ROWS,
  ...REQUEST_ROWS,
  ...THREAD_ROWS,
];
