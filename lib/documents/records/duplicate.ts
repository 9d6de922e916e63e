import * as z from "zod";
import { ApiError } from "../../errors.ts";
import type { Ports } from "../../platform/ports.ts";
import { isPrivileged, ROLES } from "../access/roles.ts";
import { authorize, type DocumentAccess, documentNotFound } from "../authorization/document-access.ts";
import { commitChange } from "../changes/commit.ts";
import { documentEvent } from "../events/document-event.ts";
import { planCopiedAccess, readAccessesOfOthers } from "../grants/copied-accesses.ts";
import { planInitialAccess } from "../grants/grants.ts";
import { completeMoves } from "../grants/staged-accesses.ts";
import type { StoredAccess } from "../tables/accesses.ts";
import { documentKey, documentsTable, type StoredDocument } from "../tables/documents.ts";
import type { StoredUser } from "../tables/users.ts";
import { findDeletedAt, idsOf, readNode } from "../tree/ancestors.ts";
import { childIds } from "../tree/children.ts";
import { allocateOrder, initialOrders } from "../tree/siblings.ts";
import {
  DETACHED_AT,
  planAttach,
  planDetached,
  planWithinDepth,
  type TreePosition,
} from "../tree/tree-writes.ts";
import { copyTitle } from "./copy-title.ts";
import type { CreateDeps } from "./create.ts";

/** Body of a copy. Reference 3.4. */
export const duplicateBody = z.object({
  with_accesses: z
    .boolean()
    .default(false)
    .describe("Also copy the link settings and, if the caller manages accesses, the accesses"),
  with_descendants: z.boolean().default(false).describe("Also copy the descendants"),
});

export interface DuplicateOptions {
  readonly withAccesses: boolean;
  readonly withDescendants: boolean;
  /** Language of the copies' titles. */
  readonly language: string;
  /** Copies content to a detached copy. */
  readonly copyContent?: (from: StoredDocument, to: StoredDocument) => Promise<void>;
}

/** Documents per transaction: each takes up to two items. */
const DOCUMENTS_AT_ONCE = 30;
/** Accesses per transaction: each takes up to two items. */
const ACCESSES_AT_ONCE = 45;
/** Contents copied concurrently. */
const CONTENTS_AT_ONCE = 8;

/**
 * Copies a document and returns the copy's id. The copy is created detached and attached last, so it becomes visible
 * completely or not at all. Throws `not_found`, `forbidden`; `bad_request` if it exceeds a limit; `conflict`.
 * Reference 3.4.
 */
export async function duplicateDocument(
  deps: CreateDeps,
  user: StoredUser,
  id: string,
  { withAccesses, withDescendants, language, copyContent }: DuplicateOptions,
): Promise<string> {
  const documentAccess = await authorize(deps, user, id, "duplicate");
  const { document } = documentAccess;
  const originals = withDescendants ? await readSubtree(deps, document) : [document];
  const copiesAccesses = withAccesses && isPrivileged(documentAccess.role);
  if (copiesAccesses) await completeMoves(deps, originals);
  const accesses = copiesAccesses ? await readAccessesOfOthers(deps, originals, user.id) : new Map();

  const parent = parentForCopy(documentAccess);
  const above = parent === null ? [] : idsOf(documentAccess.ancestors);
  const at = new Date(deps.clock.now()).toISOString();
  const copies = planTreeFields(deps, originals, above).map(({ original, ...lies }): StoredDocument => {
    const { excerpt } = original;
    const { link_reach, link_role } = withAccesses ? original : UNSHARED;
    const rows: readonly StoredAccess[] = accesses.get(original.id) ?? [];
    // The creator's access is written when the copy is attached.
    const made = original.id === id && parent === null ? 1 : 0;
    return {
      ...documentKey(lies.id),
      ...lies,
      title: copyTitle(original.title, language),
      excerpt,
      link_reach,
      link_role,
      creator: user.id,
      duplicated_from: original.id,
      created_at: at,
      updated_at: at,
      deleted_at: original.id === id ? DETACHED_AT : null,
      position_version: 1,
      revision: 1,
      accesses: rows.length + made,
      owners: rows.filter(({ role }) => role === "owner").length + made,
    };
  });

  await forEachBatch(copies, DOCUMENTS_AT_ONCE, (some) =>
    commitChange(deps, async () => ({
      writes: some.flatMap(planDetached),
      events: [],
      result: undefined,
    })),
  );
  const pairs = originals.flatMap((from, index) => {
    const to = copies[index];
    return to === undefined ? [] : [{ from, to }];
  });
  await forEachBatch(pairs, CONTENTS_AT_ONCE, (some) =>
    Promise.all(some.map(({ from, to }) => copyContent?.(from, to))),
  );
  const granted = pairs.flatMap(({ from, to }) =>
    (accesses.get(from.id) ?? []).map((access: StoredAccess) => ({ access, to: to.id })),
  );
  await forEachBatch(granted, ACCESSES_AT_ONCE, (some) =>
    commitChange(deps, async () => ({
      writes: some.flatMap(({ access, to }) => planCopiedAccess(access, to, at)),
      events: [],
      result: undefined,
    })),
  );
  return attach(deps, user, copies, parent);
}

const UNSHARED = { link_reach: "restricted", link_role: "reader" } as const;

/** Returns the copy's parent: the original's if the user can edit there; otherwise the copy is a root. */
function parentForCopy({ document, role }: DocumentAccess): string | null {
  const writes = role !== null && ROLES.indexOf(role) >= ROLES.indexOf("editor");
  return writes ? document.parent : null;
}

type TreeFields = Pick<StoredDocument, "id" | "parent" | "order" | "chain" | "height" | "numchild">;

/** Plans the tree fields of the copies, parents first. */
function planTreeFields(
  { ids }: Pick<CreateDeps, "ids">,
  originals: readonly StoredDocument[],
  above: readonly string[],
): ({ original: StoredDocument } & TreeFields)[] {
  const made = new Map<
    string,
    { original: StoredDocument } & { -readonly [K in keyof TreeFields]: TreeFields[K] }
  >();
  const orders = initialOrders(originals.length);
  for (const original of originals) {
    const parent = original.parent === null ? undefined : made.get(original.parent);
    if (parent !== undefined) parent.numchild += 1;
    made.set(original.id, {
      original,
      id: ids.random(),
      parent: parent?.id ?? null,
      height: 0,
      numchild: 0,
      order: orders[parent === undefined ? 0 : parent.numchild - 1] ?? "",
      // The chain after the first copy is attached.
      chain: parent === undefined ? [...above] : [...parent.chain, parent.id],
    });
  }
  for (const { original, height } of [...made.values()].toReversed()) {
    const parent = made.get(original.parent ?? "");
    if (parent !== undefined) parent.height = Math.max(parent.height, height + 1);
  }
  return [...made.values()];
}

async function attach(
  deps: CreateDeps,
  user: StoredUser,
  copies: readonly StoredDocument[],
  parent: string | null,
): Promise<string> {
  const [copy] = copies;
  if (copy === undefined) throw documentNotFound();
  return commitChange(deps, async () => {
    const target = await resolveLastPosition(deps, parent);
    return {
      writes: [
        ...planWithinDepth(() => planAttach(copy, target)),
        ...(target.parent === undefined ? planInitialAccess(deps, copy.id, user.id, "owner") : []),
      ],
      events: [
        documentEvent("documents.created", { ...copy, parent }, user, {
          duplicated_from: copy.duplicated_from,
          documents: copies.length,
        }),
      ],
      result: copy.id,
    };
  });
}

async function resolveLastPosition(deps: CreateDeps, id: string | null): Promise<TreePosition> {
  const parent = id === null ? undefined : await readNode(deps, id);
  if (id !== null && (parent === undefined || findDeletedAt(parent) !== null)) throw documentNotFound();
  return { parent, ...(await allocateOrder(deps, id, "last")) };
}

async function forEachBatch<Item>(
  items: readonly Item[],
  atOnce: number,
  work: (some: readonly Item[]) => Promise<unknown>,
): Promise<void> {
  for (let at = 0; at < items.length; at += atOnce) await work(items.slice(at, at + atOnce));
}

/** Maximum documents per copy. */
export const SUBTREE_MAX = 1_000;
/** Parents whose children are read concurrently. */
const PARENTS_AT_ONCE = 16;

/**
 * Reads a live document with all live descendants, parents first, siblings in order. Throws `bad_request` if there
 * are more than 1,000.
 */
export async function readSubtree(
  deps: Pick<Ports, "tables">,
  top: StoredDocument,
): Promise<StoredDocument[]> {
  const all = [top];
  for (let level = [top]; level.length > 0; ) {
    const below: StoredDocument[] = [];
    const parents = level.filter(({ numchild }) => numchild > 0);
    for (let at = 0; at < parents.length; at += PARENTS_AT_ONCE) {
      const found = await Promise.all(
        parents.slice(at, at + PARENTS_AT_ONCE).map((parent) => liveChildren(deps, parent.id)),
      );
      below.push(...found.flat());
      if (all.length + below.length > SUBTREE_MAX) throw tooMany();
    }
    all.push(...below);
    level = below;
  }
  return all;
}

async function liveChildren(deps: Pick<Ports, "tables">, id: string): Promise<StoredDocument[]> {
  const ids = await childIds(deps, id, SUBTREE_MAX);
  const children = await deps.tables.batchGet(documentsTable, ids.map(documentKey));
  // Excludes children that have moved since.
  return children.filter(({ parent, deleted_at }) => parent === id && deleted_at === null);
}

function tooMany(): ApiError {
  const message = `A copy is limited to ${SUBTREE_MAX} documents.`;
  return new ApiError("bad_request", message, { body: { with_descendants: [message] } });
}
