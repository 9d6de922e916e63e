import { readAll } from "../../events/read-all.ts";
import type { Ports } from "../../platform/ports.ts";
import { fold } from "../fold.ts";
import {
  childrenTable,
  DEPTH_MAX,
  deletedChildrenOf,
  documentKey,
  documentsTable,
  type StoredDocument,
} from "../tables/documents.ts";
import { childIds } from "../tree/children.ts";

const NO_CHILDREN: Set<IndexedDocument> = new Set();

/** A document in the in-memory index. A class gives all entries the same shape, which V8 accesses fast. */
export class IndexedDocument {
  readonly id: string;
  /** Normalized title; null without a title. */
  title: string | null = null;
  creator: string | null = null;
  /** Its own link is not restricted. */
  isOpen = false;
  /** Milliseconds. */
  createdAt = Number.NaN;
  updatedAt = Number.NaN;
  /** When the document itself was deleted. */
  deletedAt: number | null = null;
  /** Sort key among its siblings. */
  order = "";
  parentId: string | null = null;
  /** Loaded before any list is computed. */
  parent: IndexedDocument | undefined = undefined;
  /** Loaded children, live and deleted. */
  children: Set<IndexedDocument> = NO_CHILDREN;
  /** Whether all live and all deleted children are loaded. */
  hasLive: boolean;
  hasDeleted: boolean;
  /** Number of the last traversal that visited it. */
  visit = 0;
  /** Cached results, with the index version or traversal they belong to. */
  liveVersion = 0;
  isLive = false;
  belowVisit = 0;
  hasVisitedAncestor = false;

  constructor({ id, numchild, has_deleted_children }: StoredDocument) {
    this.id = id;
    this.hasLive = numchild === 0;
    this.hasDeleted = has_deleted_children !== true;
  }
}

type IndexDeps = Pick<Ports, "tables">;

/** Documents read per batch. */
const READ_AT_ONCE = 2_000;
const CHILDREN_AT_ONCE = 16;
/** No limit. */
const EVERY_CHILD = Number.MAX_SAFE_INTEGER;
/** In-memory index of documents, each with all its ancestors. */
export class DocumentIndex {
  readonly #documents = new Map<string, IndexedDocument>();
  readonly #people = new Map<string, string>();
  #visit = 0;
  /** Incremented when any entry may have changed, which invalidates cached results. */
  version = 1;

  get size(): number {
    return this.#documents.size;
  }

  get(id: string): IndexedDocument | undefined {
    return this.#documents.get(id);
  }

  /** Returns a new traversal number. */
  newVisit(): number {
    this.#visit += 1;
    return this.#visit;
  }

  clear(): void {
    this.#documents.clear();
    this.#people.clear();
  }

  /** Loads the missing ones of these documents, with their ancestors. */
  async load(deps: IndexDeps, ids: Iterable<string>): Promise<void> {
    const wanted = [...new Set(ids)].filter((id) => !this.#documents.has(id));
    for (let from = 0; from < wanted.length; from += READ_AT_ONCE)
      await this.#read(deps, wanted.slice(from, from + READ_AT_ONCE), () => true);
  }

  /** Reloads these documents if they or their parents are in the index. */
  async refresh(deps: IndexDeps, ids: Iterable<string>): Promise<void> {
    const isAsked = ({ id, parent }: StoredDocument) =>
      this.#documents.has(id) || (parent !== null && this.#documents.has(parent));
    this.version += 1;
    await this.#read(deps, [...ids], isAsked);
  }

  /** Loads all live children of these documents, and the deleted ones with `deleted`. */
  async loadChildren(deps: IndexDeps, parents: readonly IndexedDocument[], deleted: boolean): Promise<void> {
    for (let from = 0; from < parents.length; from += CHILDREN_AT_ONCE) {
      const some = parents.slice(from, from + CHILDREN_AT_ONCE);
      const ids = await Promise.all(
        some.map(async ({ id, hasLive, hasDeleted }) => [
          ...(hasLive ? [] : await childIds(deps, id, EVERY_CHILD)),
          ...(hasDeleted || !deleted ? [] : await deletedIds(deps, id)),
        ]),
      );
      await this.load(deps, ids.flat());
      for (const parent of some) {
        parent.hasLive = true;
        if (deleted) parent.hasDeleted = true;
      }
    }
  }

  async #read(
    deps: IndexDeps,
    ids: readonly string[],
    isAsked: (document: StoredDocument) => boolean,
  ): Promise<void> {
    let lost: IndexedDocument[] = [];
    let wanted: readonly string[] = ids;
    // The chain usually names all ancestors; if it is out of date, they are read level by level.
    for (let level = 0; wanted.length > 0 && level < STEPS_MAX; level += 1) {
      const found = await deps.tables.batchGet(documentsTable, wanted.map(documentKey));
      const asked = level === 0 ? found.filter(isAsked) : found;
      const chains = new Set<string>();
      for (const document of asked) {
        lost.push(this.#put(document));
        for (const above of document.chain) chains.add(above);
      }
      lost = lost.filter((entry) => !this.#link(entry));
      for (const { parentId } of lost) if (parentId !== null) chains.add(parentId);
      wanted = [...chains].filter((id) => !this.#documents.has(id));
    }
  }

  #put(document: StoredDocument): IndexedDocument {
    const { id, title, parent, deleted_at } = document;
    const entry = this.#documents.get(id) ?? new IndexedDocument(document);
    this.#documents.set(id, entry);
    entry.title = title === null ? null : fold(title);
    entry.creator = document.creator === null ? null : this.#person(document.creator);
    entry.isOpen = document.link_reach !== "restricted";
    entry.createdAt = Date.parse(document.created_at);
    entry.updatedAt = Date.parse(document.updated_at);
    entry.deletedAt = deleted_at === null ? null : Date.parse(deleted_at);
    entry.order = document.order;
    if (entry.parentId !== parent) {
      entry.parent?.children.delete(entry);
      entry.parent = undefined;
      entry.parentId = parent;
    }
    return entry;
  }

  /** Links an entry to its parent. Returns false if the parent is not loaded. */
  #link(entry: IndexedDocument): boolean {
    if (entry.parentId === null || entry.parent !== undefined) return true;
    const parent = this.#documents.get(entry.parentId);
    if (parent === undefined) return false;
    if (parent.children === NO_CHILDREN) parent.children = new Set();
    parent.children.add(entry);
    entry.parent = parent;
    return true;
  }

  /** Interns user ids to save memory. */
  #person(id: string): string {
    const kept = this.#people.get(id) ?? id;
    this.#people.set(id, kept);
    return kept;
  }
}

async function deletedIds(deps: IndexDeps, parent: string): Promise<string[]> {
  const items = await readAll(deps, childrenTable, { pk: deletedChildrenOf(parent) });
  return items.map(({ id }) => id);
}

/** Maximum steps upward: during moves the loaded parents may form a loop. */
export const STEPS_MAX = DEPTH_MAX * 2;

/** Whether neither the document nor an ancestor is deleted; false if unknown. */
export function isLive(entry: IndexedDocument, version: number, steps = 0): boolean {
  if (entry.liveVersion === version) return entry.isLive;
  const { parent, parentId, deletedAt } = entry;
  const isAlone = deletedAt === null && steps < STEPS_MAX;
  const live = isAlone && (parent === undefined ? parentId === null : isLive(parent, version, steps + 1));
  entry.liveVersion = version;
  entry.isLive = live;
  return live;
}

/** Whether the traversal visited an ancestor. */
export function hasVisitedAncestor(entry: IndexedDocument, visit: number, steps = 0): boolean {
  if (entry.belowVisit === visit) return entry.hasVisitedAncestor;
  const { parent } = entry;
  const below =
    parent !== undefined &&
    steps < STEPS_MAX &&
    (parent.visit === visit || hasVisitedAncestor(parent, visit, steps + 1));
  entry.belowVisit = visit;
  entry.hasVisitedAncestor = below;
  return below;
}

/** Returns when the document or an ancestor was first deleted, milliseconds; null if live. */
export function findDeletionTime(entry: IndexedDocument): number | null {
  let [steps, since]: [number, number | null] = [0, null];
  for (let at: IndexedDocument | undefined = entry; at !== undefined && steps < STEPS_MAX; at = at.parent) {
    if (at.deletedAt !== null && (since === null || at.deletedAt < since)) since = at.deletedAt;
    steps += 1;
  }
  return since;
}
