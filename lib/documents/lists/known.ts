import { readAll } from "../../events/read-all.ts";
import type { Ports } from "../../platform/ports.ts";
import { childIds } from "../documents/children.ts";
import {
  childrenTable,
  DEPTH_MAX,
  deletedChildrenOf,
  documentKey,
  documentsTable,
  type StoredDocument,
} from "../tree/table.ts";
import { fold } from "./fold.ts";

/** What lists know of a document. */
export interface Known {
  readonly id: string;
  /** As it is searched; null without a title. */
  title: string | null;
  creator: string | null;
  /** Its own link lets others in. */
  isOpen: boolean;
  /** Milliseconds. */
  createdAt: number;
  updatedAt: number;
  /** When it was itself deleted. */
  deletedAt: number | null;
  /** Its key among its siblings. */
  order: string;
  parentId: string | null;
  /** Known whenever a list is made. */
  parent: Known | undefined;
  /** Those that are known, deleted or not. */
  children: Set<Known>;
  /** Whether they are all that are live, and all that were deleted. */
  hasLive: boolean;
  hasDeleted: boolean;
  /** Of the last look that met it. */
  mark: number;
}

type KnownDeps = Pick<Ports, "tables">;

/** Documents read before others are let have a turn. */
const READ_AT_ONCE = 2_000;
const CHILDREN_AT_ONCE = 16;
/** Of parents whose children cannot be listed here at once. */
const EVERY_CHILD = Number.MAX_SAFE_INTEGER;
const NO_CHILDREN: Set<Known> = new Set();

/** Documents in the memory of this process, each with all that it lies in. */
export class KnownDocuments {
  readonly #known = new Map<string, Known>();
  readonly #people = new Map<string, string>();
  #mark = 0;

  get size(): number {
    return this.#known.size;
  }

  get(id: string): Known | undefined {
    return this.#known.get(id);
  }

  /** A mark that nothing has yet. */
  newMark(): number {
    this.#mark += 1;
    return this.#mark;
  }

  clear(): void {
    this.#known.clear();
    this.#people.clear();
  }

  /** Reads those of these documents that are not known, and all that they lie in. */
  async load(deps: KnownDeps, ids: Iterable<string>): Promise<void> {
    const wanted = [...new Set(ids)].filter((id) => !this.#known.has(id));
    for (let from = 0; from < wanted.length; from += READ_AT_ONCE)
      await this.#read(deps, wanted.slice(from, from + READ_AT_ONCE), () => true);
  }

  /** Reads again those that are known or lie in what is known; of others nothing is asked here. */
  async refresh(deps: KnownDeps, ids: Iterable<string>): Promise<void> {
    const isAsked = ({ id, parent }: StoredDocument) =>
      this.#known.has(id) || (parent !== null && this.#known.has(parent));
    await this.#read(deps, [...ids], isAsked);
  }

  /** Makes all children of these documents known, and the deleted ones likewise where `deleted` says so. */
  async loadChildren(deps: KnownDeps, parents: readonly Known[], deleted: boolean): Promise<void> {
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
    deps: KnownDeps,
    ids: readonly string[],
    isAsked: (document: StoredDocument) => boolean,
  ): Promise<void> {
    let lost: Known[] = [];
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
      lost = lost.filter((known) => !this.#link(known));
      for (const { parentId } of lost) if (parentId !== null) chains.add(parentId);
      wanted = [...chains].filter((id) => !this.#known.has(id));
    }
  }

  #put(document: StoredDocument): Known {
    const { id, title, parent, deleted_at } = document;
    const known = this.#known.get(id) ?? newKnown(document);
    this.#known.set(id, known);
    known.title = title === null ? null : fold(title);
    known.creator = document.creator === null ? null : this.#person(document.creator);
    known.isOpen = document.link_reach !== "restricted";
    known.createdAt = Date.parse(document.created_at);
    known.updatedAt = Date.parse(document.updated_at);
    known.deletedAt = deleted_at === null ? null : Date.parse(deleted_at);
    known.order = document.order;
    if (known.parentId !== parent) {
      known.parent?.children.delete(known);
      known.parent = undefined;
      known.parentId = parent;
    }
    return known;
  }

  /** False where what it lies in is not known yet. */
  #link(known: Known): boolean {
    if (known.parentId === null || known.parent !== undefined) return true;
    const parent = this.#known.get(known.parentId);
    if (parent === undefined) return false;
    if (parent.children === NO_CHILDREN) parent.children = new Set();
    parent.children.add(known);
    known.parent = parent;
    return true;
  }

  /** One text for each person. */
  #person(id: string): string {
    const kept = this.#people.get(id) ?? id;
    this.#people.set(id, kept);
    return kept;
  }
}

function newKnown({ id, numchild, has_deleted_children }: StoredDocument): Known {
  return {
    ...{ id, title: null, creator: null, isOpen: false, createdAt: 0, updatedAt: 0, deletedAt: null },
    ...{ order: "", parentId: null, parent: undefined, children: NO_CHILDREN, mark: 0 },
    hasLive: numchild === 0,
    hasDeleted: has_deleted_children !== true,
  };
}

async function deletedIds(deps: KnownDeps, parent: string): Promise<string[]> {
  const items = await readAll(deps, childrenTable, { pk: deletedChildrenOf(parent) });
  return items.map(({ id }) => id);
}

/** Steps up a line at most: it may be told wrong while its documents are being moved. */
const STEPS_MAX = DEPTH_MAX * 2;

/** Whether neither it nor anything that it lies in was deleted; false where that cannot be told. */
export function isLive(known: Known): boolean {
  let steps = 0;
  let at: Known | undefined = known;
  for (; at !== undefined; at = at.parent) {
    steps += 1;
    if (at.deletedAt !== null || steps > STEPS_MAX) return false;
    if (at.parentId !== null && at.parent === undefined) return false;
  }
  return true;
}

/** Whether anything that it lies in has the mark. */
export function isBelow(known: Known, mark: number): boolean {
  let steps = 0;
  for (let at = known.parent; at !== undefined && steps < STEPS_MAX; at = at.parent) {
    if (at.mark === mark) return true;
    steps += 1;
  }
  return false;
}

/** When it was deleted, itself or with what it lies in, milliseconds; null where it is live. */
export function deletedSince(known: Known): number | null {
  let [steps, since]: [number, number | null] = [0, null];
  for (let at: Known | undefined = known; at !== undefined && steps < STEPS_MAX; at = at.parent) {
    if (at.deletedAt !== null && (since === null || at.deletedAt < since)) since = at.deletedAt;
    steps += 1;
  }
  return since;
}
