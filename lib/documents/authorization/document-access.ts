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

/** Who looks: undefined is anybody. */
export type Viewer = StoredUser | undefined;

/** A document as somebody stands to it. */
export interface DocumentAccess extends DocumentNode {
  readonly viewer: Viewer;
  readonly context: AccessContext;
  readonly abilities: Abilities;
  /** The viewer's own highest role on it or above it; links are none. */
  readonly role: Role | null;
  /** What it is to the viewer itself. */
  readonly relation: StoredRelation | undefined;
  /** Since when the viewer has a role on it, by the earliest access of the line; null without one. */
  readonly since: string | null;
  /** When it was deleted, itself or with what it lies in. */
  readonly deletedAt: string | null;
}

/** What documents are to a viewer, by their ids. */
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

/** The same with the roles that the viewer has since the move of some documents, which is not settled. */
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
      ...marks
    } = found.get(id) ?? { ...relationKey(viewer.id, id), document: id };
    const access = staged.get(id);
    found.set(id, access === undefined ? marks : { ...marks, role: access.role, since: access.created_at });
  }
  return found;
}

/** A document as a viewer stands to it; `relations` hold at least those of its line. */
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
    ...{ ...node, viewer, context, role, relation, deletedAt: deleted },
    abilities: computeAbilities(context),
    since: since.toSorted()[0] ?? null,
  };
}

const linkOf = ({ link_reach, link_role }: StoredDocument): Link => ({ reach: link_reach, role: link_role });

/** A document that was read, as a viewer stands to it: one read for all that it lies in. */
export async function resolveAccess(
  deps: AuthorizationDeps,
  viewer: Viewer,
  node: DocumentNode,
): Promise<DocumentAccess> {
  return evaluateAccess(deps, viewer, node, await readRelations(deps, viewer, ancestorsAndSelf(node)));
}

/** Likewise of several that lie in the same. */
export async function resolveSiblingAccesses(
  deps: AuthorizationDeps,
  viewer: Viewer,
  documents: readonly StoredDocument[],
  ancestors: readonly StoredDocument[],
): Promise<DocumentAccess[]> {
  const relations = await readRelations(deps, viewer, [...ancestors, ...documents]);
  return documents.map((document) => evaluateAccess(deps, viewer, { document, ancestors }, relations));
}

/** Likewise of any documents, and what they and all that they lie in are to the viewer: three reads at most. */
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
 * The document of an id for somebody who wants to do something with it. Throws `not_found` where there is none, or it
 * was deleted and the viewer does not own it or may not bring it back any more; `unauthorized` and `forbidden` where
 * they may not. Reference 1.0, 2.3.
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

/** Likewise, whatever they may do with it. Throws `not_found`. */
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

/** Whether what was deleted then cannot be brought back any more. Reference 3.1. */
export function isPastTrashCutoff(
  { clock, documents }: Pick<AuthorizationDeps, "clock" | "documents">,
  at: string,
): boolean {
  return Date.parse(at) < clock.now() - documents.trashbinCutoffMs;
}

export const documentNotFound = (): ApiError =>
  new ApiError("not_found", "No Document matches the given query.");

/** Who is nobody may come back with a name. */
export const accessDenied = (viewer: Viewer): ApiError =>
  viewer === undefined ? notAuthenticated() : permissionDenied();
