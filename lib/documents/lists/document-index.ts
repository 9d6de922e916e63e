import { readAll } from "../../events/read-all.ts";
import type { Ports } from "../../platform/ports.ts";
import {
  childrenTable,
  DEPTH_MAX,
  deletedChildrenOf,
  documentKey,
  documentsTable,
  type StoredDocument,
} from "../tables/documents.ts";
import { childIds } from "../tree/children.ts";
import { fold } from "./fold.ts";

const NO_CHILDREN: Set<IndexedDocument> = new Set();

/** What lists know of a document. A class, so that all are alike and quick to walk through. */
export class IndexedDocument {
  readonly id: string;
  /** As it is searched; null without a title. */
  title: string | null = null;
  creator: string | null = null;
  /** Its own link lets others in. */
  isOpen = false;
  /** Milliseconds. */
  createdAt = Number.NaN;
  updatedAt = Number.NaN;
  /** When it was itself deleted. */
  deletedAt: number | null = null;
  /** Its key among its siblings. */
  order = "";
  parentId: string | null = null;
  /** Known whenever a list is made. */
  parent: IndexedDocument | undefined = undefined;
  /** Those that are entry, deleted or not. */
  children: Set<IndexedDocument> = NO_CHILDREN;
  /** Whether they are all that are live, and all that were deleted. */
  hasLive: boolean;
  hasDeleted: boolean;
  /** Of the last look that met it. */
  visit = 0;
  /** What a look found out: of which version or visit that is, and whether it is so. */
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

/** Documents read before others are let have a turn. */
const READ_AT_ONCE = 2_000;
const CHILDREN_AT_ONCE = 16;
/** Of parents whose children cannot be listed here at once. */
const EVERY_CHILD = Number.MAX_SAFE_INTEGER;
/** Documents in the memory of this process, each with all that it lies in. */
export class DocumentIndex {
  readonly #documents = new Map<string, IndexedDocument>();
  readonly #people = new Map<string, string>();
  #visit = 0;
  /** Moves when anything that was known may have changed: what was found out before holds no longer. */
  version = 1;

  get size(): number {
    return this.#documents.size;
  }

  get(id: string): IndexedDocument | undefined {
    return this.#documents.get(id);
  }

  /** A visit that nothing has yet. */
  newVisit(): number {
    this.#visit += 1;
    return this.#visit;
  }

  clear(): void {
    this.#documents.clear();
    this.#people.clear();
  }

  /** Reads those of these documents that are not entry, and all that they lie in. */
  async load(deps: IndexDeps, ids: Iterable<string>): Promise<void> {
    const wanted = [...new Set(ids)].filter((id) => !this.#documents.has(id));
    for (let from = 0; from < wanted.length; from += READ_AT_ONCE)
      await this.#read(deps, wanted.slice(from, from + READ_AT_ONCE), () => true);
  }

  /** Reads again those that are known or lie in what is known; of others nothing is asked here. */
  async refresh(deps: IndexDeps, ids: Iterable<string>): Promise<void> {
    const isAsked = ({ id, parent }: StoredDocument) =>
      this.#documents.has(id) || (parent !== null && this.#documents.has(parent));
    this.version += 1;
    await this.#read(deps, [...ids], isAsked);
  }

  /** Makes all children of these documents entry, and the deleted ones likewise where `deleted` says so. */
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
    // Level by level, but for the first time: a document tells of all that it lies in, which is true as a rule.
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

  /** False where what it lies in is not known yet. */
  #link(entry: IndexedDocument): boolean {
    if (entry.parentId === null || entry.parent !== undefined) return true;
    const parent = this.#documents.get(entry.parentId);
    if (parent === undefined) return false;
    if (parent.children === NO_CHILDREN) parent.children = new Set();
    parent.children.add(entry);
    entry.parent = parent;
    return true;
  }

  /** One text for each person. */
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

/** Steps up a line at most: it may be told wrong while its documents are being moved. */
const STEPS_MAX = DEPTH_MAX * 2;

/** Whether neither it nor anything that it lies in was deleted; false where that cannot be told. */
export function isLive(entry: IndexedDocument, version: number, steps = 0): boolean {
  if (entry.liveVersion === version) return entry.isLive;
  const { parent, parentId, deletedAt } = entry;
  const isAlone = deletedAt === null && steps < STEPS_MAX;
  const live = isAlone && (parent === undefined ? parentId === null : isLive(parent, version, steps + 1));
  entry.liveVersion = version;
  entry.isLive = live;
  return live;
}

/** Whether anything that it lies in has the visit. */
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

/** When it was deleted, itself or with what it lies in, milliseconds; null where it is live. */
export function findDeletionTime(entry: IndexedDocument): number | null {
  let [steps, since]: [number, number | null] = [0, null];
  for (let at: IndexedDocument | undefined = entry; at !== undefined && steps < STEPS_MAX; at = at.parent) {
    if (at.deletedAt !== null && (since === null || at.deletedAt < since)) since = at.deletedAt;
    steps += 1;
  }
  return since;
}
