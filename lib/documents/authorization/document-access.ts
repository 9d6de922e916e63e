import { ApiError } from "../../errors.ts";
import type { Ports } from "../../platform/ports.ts";
import type { DocumentSettings } from "../../settings/document-config.ts";
import { type Abilities, type Ability, type AccessContext, computeAbilities } from "../access/abilities.ts";
import { notAuthenticated, permissionDenied } from "../access/errors.ts";
import { equivalentLink, type Link } from "../access/links.ts";
import { highestRole, type Role } from "../access/roles.ts";
import {
  accessesTable,
  accessId,
  accessKey,
  relationKey,
  relationsTable,
  type StoredRelation,
  stagedAccessesPartition,
} from "../tables/accesses.ts";
import type { StoredDocument } from "../tables/documents.ts";
import type { StoredUser } from "../tables/users.ts";
import {
  ancestorsAndSelf,
  type DocumentNode,
  findDeletedAt,
  readNode,
  resolveAllAncestors,
} from "../tree/ancestors.ts";

export type AuthorizationDeps = Pick<Ports, "tables" | "clock"> & { readonly documents: DocumentSettings };

/** The user of a request; undefined if anonymous. */
export type Viewer = StoredUser | undefined;

/** A document with a viewer's role and abilities. */
export interface DocumentAccess extends DocumentNode {
  readonly viewer: Viewer;
  readonly context: AccessContext;
  readonly abilities: Abilities;
  /** The viewer's highest role on the document or an ancestor. Link roles do not count. */
  readonly role: Role | null;
  /** The viewer's relation to the document. */
  readonly relation: StoredRelation | undefined;
  /** When the viewer first got a role on the document or an ancestor; null without a role. */
  readonly since: string | null;
  /** When the document or an ancestor was deleted; null if live. */
  readonly deletedAt: string | null;
}

/** Reads the viewer's relations to documents, by document id. */
export async function readRelations(
  { tables }: Pick<Ports, "tables">,
  viewer: Viewer,
  documents: readonly StoredDocument[],
): Promise<ReadonlyMap<string, StoredRelation>> {
  if (viewer === undefined || documents.length === 0) return new Map();
  const keys = documents.map(({ id }) => relationKey(viewer.id, id));
  const relations = await tables.batchGet(relationsTable, keys);
  const found = new Map(relations.map((relation) => [relation.sk, relation]));
  const moving = documents.filter((document) => document.pending_move !== undefined);
  return moving.length === 0 ? found : withStagedRoles({ tables }, viewer, moving, found);
}

/** Replaces the roles on documents whose move is pending by the staged ones. */
async function withStagedRoles(
  { tables }: Pick<Ports, "tables">,
  viewer: StoredUser,
  moving: readonly StoredDocument[],
  relations: ReadonlyMap<string, StoredRelation>,
): Promise<ReadonlyMap<string, StoredRelation>> {
  const keys = moving.map(({ id, pending_move: move = "" }) =>
    accessKey(stagedAccessesPartition(id, move), accessId(id, { user: viewer.id })),
  );
  const staged = new Map(
    (await tables.batchGet(accessesTable, keys)).map((access) => [access.document, access]),
  );
  const found = new Map(relations);
  for (const { id } of moving) {
    const {
      role: _role,
      since: _since,
      ...flags
    } = found.get(id) ?? { ...relationKey(viewer.id, id), document: id };
    const access = staged.get(id);
    found.set(id, access === undefined ? flags : { ...flags, role: access.role, since: access.created_at });
  }
  return found;
}

/** Computes a viewer's access to a document. `relations` must include those to the document and its ancestors. */
export function evaluateAccess(
  { documents: { aiAllowReachFrom } }: Pick<AuthorizationDeps, "documents">,
  viewer: Viewer,
  node: DocumentNode,
  relations: ReadonlyMap<string, StoredRelation>,
): DocumentAccess {
  const { document, ancestors } = node;
  const line = ancestorsAndSelf(node).map(({ id }) => relations.get(id));
  const role = highestRole(line.map((relation) => relation?.role ?? null));
  const relation = relations.get(document.id);
  const since = line.flatMap((one) =>
    one?.role === undefined || one.since === undefined ? [] : [one.since],
  );
  const links = ancestors.map(linkOf);
  const deleted = findDeletedAt(node);
  const context: AccessContext = {
    isAuthenticated: viewer !== undefined,
    role,
    link: equivalentLink([...links, linkOf(document)]),
    ancestorsLink: equivalentLink(links),
    isDeleted: deleted !== null,
    isRoot: document.parent === null,
    isCreator: viewer !== undefined && document.creator === viewer.id,
    hasTrace: relation?.trace === true,
    aiAllowReachFrom,
  };
  return {
    ...node,
    viewer,
    context,
    role,
    relation,
    deletedAt: deleted,
    abilities: computeAbilities(context),
    since: since.toSorted()[0] ?? null,
  };
}

const linkOf = ({ link_reach, link_role }: StoredDocument): Link => ({ reach: link_reach, role: link_role });

/** Reads the viewer's relations to a document and its ancestors, in one read, and computes the access. */
export async function resolveAccess(
  deps: AuthorizationDeps,
  viewer: Viewer,
  node: DocumentNode,
): Promise<DocumentAccess> {
  return evaluateAccess(deps, viewer, node, await readRelations(deps, viewer, ancestorsAndSelf(node)));
}

/** Resolves the viewer's access to documents with the same ancestors. */
export async function resolveSiblingAccesses(
  deps: AuthorizationDeps,
  viewer: Viewer,
  documents: readonly StoredDocument[],
  ancestors: readonly StoredDocument[],
): Promise<DocumentAccess[]> {
  const relations = await readRelations(deps, viewer, [...ancestors, ...documents]);
  return documents.map((document) => evaluateAccess(deps, viewer, { document, ancestors }, relations));
}

/**
 * Resolves the viewer's access to any documents, with at most three reads. Also returns the relations to the
 * documents and their ancestors.
 */
export async function resolveAccesses(
  deps: AuthorizationDeps,
  viewer: Viewer,
  documents: readonly StoredDocument[],
): Promise<{
  readonly accesses: readonly DocumentAccess[];
  readonly relations: ReadonlyMap<string, StoredRelation>;
}> {
  const nodes = await resolveAllAncestors(deps, documents);
  const lines = new Map(nodes.flatMap(ancestorsAndSelf).map((one) => [one.id, one]));
  const relations = await readRelations(deps, viewer, [...lines.values()]);
  return { accesses: nodes.map((node) => evaluateAccess(deps, viewer, node, relations)), relations };
}

/**
 * Returns the viewer's access to a document if it includes the ability. Throws `not_found` if the document does not
 * exist, or is deleted and the viewer does not own it or the retention time has passed; `unauthorized` and
 * `forbidden` if the viewer lacks the ability. Reference 1.0, 2.3.
 */
export async function authorize(
  deps: AuthorizationDeps,
  viewer: Viewer,
  id: string,
  ability: Ability,
): Promise<DocumentAccess> {
  const access = await findDocument(deps, viewer, id);
  if (!access.abilities[ability]) throw accessDenied(viewer);
  return access;
}

/** Returns the viewer's access to a document, whatever the abilities are. Throws `not_found`. */
export async function findDocument(
  deps: AuthorizationDeps,
  viewer: Viewer,
  id: string,
): Promise<DocumentAccess> {
  const node = await readNode(deps, id);
  if (node === undefined) throw documentNotFound();
  const access = await resolveAccess(deps, viewer, node);
  if (access.deletedAt !== null && (access.role !== "owner" || isPastTrashCutoff(deps, access.deletedAt)))
    throw documentNotFound();
  return access;
}

/** Whether a document deleted at this time is past the trash retention and cannot be restored. Reference 3.1. */
export function isPastTrashCutoff(
  { clock, documents }: Pick<AuthorizationDeps, "clock" | "documents">,
  at: string,
): boolean {
  return Date.parse(at) < clock.now() - documents.trashbinCutoffMs;
}

export const documentNotFound = (): ApiError =>
  new ApiError("not_found", "No Document matches the given query.");

/** 401 for anonymous viewers, 403 otherwise. */
export const accessDenied = (viewer: Viewer): ApiError =>
  viewer === undefined ? notAuthenticated() : permissionDenied();
