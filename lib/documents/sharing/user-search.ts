import { ApiError } from "../../errors.ts";
import { readAll } from "../../events/read-all.ts";
import type { Ports } from "../../platform/ports.ts";
import { type AuthorizationDeps, findDocument } from "../authorization/document-access.ts";
import { fold } from "../fold.ts";
import { accessesTable, relationsTable } from "../tables/accesses.ts";
import { type StoredUser, userKey, usersTable } from "../tables/users.ts";
import { type DirectoryUser, domainOf, type UserDirectory } from "../users/directory.ts";
import { editDistance, similarity, trigrams } from "../users/string-similarity.ts";
import { usersByEmail } from "../users/users.ts";

const QUERY_MAX_LENGTH = 254;
const DISTANCE_MAX = 3;
const SIMILARITY_MIN = 0.2;

export type SearchDeps = AuthorizationDeps & { readonly userDirectory: UserDirectory };

export interface UserSearch {
  readonly q?: string | undefined;
  /** Excludes users with an access to this document. */
  readonly document_id?: string | undefined;
}

/**
 * Finds users: with an email address, all users with a similar one; otherwise, users with a similar address or name
 * who share a document or the email domain with the caller. Throws `bad_request`. Reference 1.13.
 */
export async function searchUsers(
  deps: SearchDeps,
  viewer: StoredUser,
  { q = "", document_id }: UserSearch,
): Promise<StoredUser[]> {
  const asked = q.trim();
  if (asked === "") return [];
  checkLength(asked, deps.documents.clientSettings.API_USERS_SEARCH_QUERY_MIN_LENGTH);
  const text = fold(asked);
  const found = text.includes("@")
    ? await findByAddress(deps, text)
    : await findBySimilarity(deps, viewer, text);
  const left =
    document_id === undefined ? new Set<string>() : await readVisibleMembers(deps, viewer, document_id);
  return readFirstActive(
    deps,
    found.filter((id) => !left.has(id)),
  );
}

function checkLength(text: string, least: number): void {
  const [word, bound] = text.length < least ? ["least", least] : ["most", QUERY_MAX_LENGTH];
  if (text.length >= least && text.length <= QUERY_MAX_LENGTH) return;
  const message = `Ensure this value has at ${word} ${bound} characters (it has ${text.length}).`;
  throw new ApiError("bad_request", message, { body: { q: [message] } });
}

/** Users with an access to the document, if the viewer may list them. */
async function readVisibleMembers(
  deps: SearchDeps,
  viewer: StoredUser,
  id: string,
): Promise<ReadonlySet<string>> {
  const documentAccess = await findDocument(deps, viewer, id).catch((error: unknown) => {
    if (error instanceof ApiError && error.code === "not_found") return undefined;
    throw error;
  });
  return documentAccess?.abilities.accesses_view === true ? readUsersWithAccess(deps, id) : new Set();
}

interface Ranked {
  readonly id: string;
  readonly email: string;
}

const byEmail = (one: Ranked, other: Ranked): number =>
  one.email < other.email ? -1 : one.email > other.email ? 1 : one.id < other.id ? -1 : 1;

/** Returns ids of users with this or a similar email address, most similar first. */
async function findByAddress(deps: SearchDeps, text: string): Promise<string[]> {
  const near = (await deps.userDirectory.all()).flatMap(({ id, email }) => {
    const distance = email === "" ? undefined : editDistance(text, email, DISTANCE_MAX);
    return distance === undefined ? [] : [{ id, email, distance }];
  });
  const ids = near.toSorted((one, other) => one.distance - other.distance || byEmail(one, other));
  const exact = await usersByEmail(deps, text);
  return [...new Set([...exact.map(({ id }) => id), ...ids.map(({ id }) => id)])];
}

/** Returns ids of related users with a similar address or name; those who share a document come first. */
async function findBySimilarity(deps: SearchDeps, viewer: StoredUser, text: string): Promise<string[]> {
  const [all, sharing] = await Promise.all([deps.userDirectory.all(), findCollaborators(deps, viewer.id)]);
  const domain = domainOf(viewer.email ?? "");
  const wanted = trigrams(text);
  const likenessOf = (listed: DirectoryUser): number =>
    Math.max(...listed.trigrams().map((each) => similarity(wanted, each)));
  return all
    .flatMap((listed) => {
      const since = sharing.get(listed.id) ?? "";
      const isSameDomain = domain !== "" && listed.domain === domain;
      if (since === "" && !isSameDomain) return [];
      const likeness = likenessOf(listed);
      if (likeness <= SIMILARITY_MIN) return [];
      return [{ id: listed.id, email: listed.email, since, isSameDomain, likeness }];
    })
    .toSorted((one, other) => {
      if (one.since !== other.since) return one.since > other.since ? -1 : 1;
      if (one.isSameDomain !== other.isSameDomain) return one.isSameDomain ? -1 : 1;
      return other.likeness - one.likeness || byEmail(one, other);
    })
    .map(({ id }) => id);
}

/** Reads the first active users. */
async function readFirstActive(deps: SearchDeps, ids: readonly string[]): Promise<StoredUser[]> {
  const limit = deps.documents.usersListLimit;
  const found: StoredUser[] = [];
  for (let at = 0; at < ids.length && found.length < limit; at += limit) {
    const keys = ids.slice(at, at + limit).map(userKey);
    const users = await deps.tables.batchGet(usersTable, keys);
    found.push(...users.filter(({ is_active }) => is_active));
  }
  return found.slice(0, limit);
}

/** Maximum relations read, and maximum documents among them (latest first) whose accesses are read. */
const RELATIONS_MAX = 1_000;
const DOCUMENTS_MAX = 100;
/** Maximum accesses read per document. */
const ACCESSES_MAX = 200;

/** Returns the users who share a document with this user, and when the latest of their accesses was created. */
async function findCollaborators(
  deps: Pick<Ports, "tables">,
  user: string,
): Promise<ReadonlyMap<string, string>> {
  const relations = await readAll(deps, relationsTable, { pk: user }, RELATIONS_MAX);
  const documents = relations
    .filter(({ role }) => role !== undefined)
    .toSorted((one, other) => ((one.since ?? "") > (other.since ?? "") ? -1 : 1))
    .slice(0, DOCUMENTS_MAX);
  const latest = new Map<string, string>();
  await Promise.all(
    documents.map(async ({ document }) => {
      for (const access of await readAll(deps, accessesTable, { pk: document }, ACCESSES_MAX)) {
        if (access.user === null) continue;
        const known = latest.get(access.user);
        if (known === undefined || known < access.created_at) latest.set(access.user, access.created_at);
      }
    }),
  );
  return latest;
}

/** Returns the users with an access to the document itself, not to an ancestor. */
async function readUsersWithAccess(
  deps: Pick<Ports, "tables">,
  document: string,
): Promise<ReadonlySet<string>> {
  const accesses = await readAll(deps, accessesTable, { pk: document });
  return new Set(accesses.flatMap(({ user }) => (user === null ? [] : [user])));
}
