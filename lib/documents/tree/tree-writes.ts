import { ApiError } from "../../errors.ts";
import type { Condition, Change as TableChange, Write } from "../../platform/tables.ts";
import {
  childrenOf,
  childrenTable,
  DEPTH_MAX,
  deletedChildrenOf,
  documentKey,
  documentsTable,
  type StoredDocument,
} from "../tables/documents.ts";
import { ancestorsAndSelf, type DocumentNode, idsOf } from "./ancestors.ts";
import { parseSegment } from "./path-segment.ts";
import type { Slot } from "./siblings.ts";

/** The tree would exceed DEPTH_MAX levels. */
export class TreeDepthError extends Error {}

const TOO_DEEP = "The tree has reached its maximum depth.";

/** Runs a plan and throws `bad_request` if the tree would be too deep. Reference 2.1. */
export function planWithinDepth<Planned>(plan: () => Planned): Planned {
  try {
    return plan();
  } catch (error) {
    if (!(error instanceof TreeDepthError)) throw error;
    throw new ApiError("bad_request", TOO_DEEP, { body: { non_field_errors: [TOO_DEEP] } });
  }
}

/** Collects writes to several documents: one transaction item per document. */
class DocumentWrites {
  readonly #asked = new Map<
    string,
    {
      when: Condition[];
      set: Record<string, string | number | boolean | null>;
      add: Record<string, number>;
    }
  >();

  #of(id: string) {
    const asked = this.#asked.get(id) ?? { when: [], set: {}, add: {} };
    this.#asked.set(id, asked);
    return asked;
  }

  /** Requires that the document has not moved since it was read, and is not deleted. */
  requireUnmoved({ id, position_version }: StoredDocument): void {
    const { when } = this.#of(id);
    if (when.length === 0) when.push(["position_version", "=", position_version], ["deleted_at", "=", null]);
  }

  /** Raises the stored height of the subtree to at least `levels`. */
  raiseHeight({ id, height }: StoredDocument, levels: number): void {
    const asked = this.#of(id);
    if (levels <= height) return;
    asked.when.push(["height", "=", height]);
    asked.set.height = levels;
  }

  add(id: string, name: "numchild", number: number): void {
    const { add } = this.#of(id);
    add[name] = (add[name] ?? 0) + number;
  }

  /** Records that a child was deleted. */
  removeChild(id: string): void {
    this.add(id, "numchild", -1);
    this.#of(id).set.has_deleted_children = true;
  }

  writes(): Write[] {
    return [...this.#asked].map(([id, { when, set, add }]): Write => {
      const [table, key] = [documentsTable, documentKey(id)];
      const added = Object.fromEntries(Object.entries(add).filter(([, number]) => number !== 0));
      const change: TableChange = { set, add: added };
      if (Object.keys(set).length === 0 && Object.keys(added).length === 0)
        return { op: "check", table, key, when };
      return { op: "update", table, key, change, when };
    });
  }
}

/** A position in a tree: a parent, or among the roots, and a free key. */
export interface TreePosition extends Slot {
  readonly parent: DocumentNode | undefined;
}

/**
 * Requires that the target's ancestors do not move and are not deleted, and that the tree does not become too deep.
 */
function requireTarget(documents: DocumentWrites, { parent }: TreePosition, height: number): void {
  if (parent === undefined) return;
  const line = ancestorsAndSelf(parent);
  if (line.length + 1 + height > DEPTH_MAX) throw new TreeDepthError();
  line.forEach((above, at) => {
    documents.requireUnmoved(above);
    documents.raiseHeight(above, line.length - at + height);
  });
  documents.add(parent.document.id, "numchild", 1);
}

const chainIn = ({ parent }: TreePosition): string[] =>
  parent === undefined ? [] : idsOf(ancestorsAndSelf(parent));

type NewDocument = Omit<
  StoredDocument,
  "pk" | "sk" | "parent" | "order" | "chain" | "position_version" | "height" | "numchild" | "revision"
>;

/** Plans a new document. The writes fail if its id or its key is taken. */
export function planInsert(
  made: NewDocument,
  target: TreePosition,
): { document: StoredDocument; writes: Write[] } {
  const document: StoredDocument = {
    ...documentKey(made.id),
    ...made,
    parent: target.parent?.document.id ?? null,
    order: target.order,
    chain: chainIn(target),
    position_version: 1,
    height: 0,
    numchild: 0,
    revision: 1,
  };
  const documents = new DocumentWrites();
  requireTarget(documents, target, 0);
  const writes: Write[] = [
    { op: "put", table: documentsTable, item: document, when: [["pk", "missing"]] },
    ...documents.writes(),
    putChild(document),
    ...target.writes,
  ];
  return { document, writes };
}

function putChild({ parent, order, id }: Pick<StoredDocument, "parent" | "order" | "id">): Write {
  const item = { pk: childrenOf(parent), sk: order, id };
  return { op: "put", table: childrenTable, item, when: [["pk", "missing"]] };
}

function dropChild({ parent, order, id }: StoredDocument): Write[] {
  // Roots stored before roots had an order have no child item.
  if (parent === null && parseSegment(order) === undefined) return [];
  const key = { pk: childrenOf(parent), sk: order };
  return [{ op: "delete", table: childrenTable, key, when: [["id", "=", id]] }];
}

/** Additional attributes and conditions for the update of a moved document. */
export interface ExtraUpdate {
  readonly set: Readonly<Record<string, number | string>>;
  readonly when: readonly Condition[];
}

/**
 * Plans the move of a live subtree. Only the document and its parents are written; descendants find their ancestors
 * through it. The target must be outside the subtree.
 */
export function planMove(
  { document }: DocumentNode,
  target: TreePosition,
  at: string,
  along?: ExtraUpdate,
): Write[] {
  const documents = new DocumentWrites();
  requireTarget(documents, target, document.height);
  if (document.parent !== null) documents.add(document.parent, "numchild", -1);
  const parent = target.parent?.document.id ?? null;
  const { order } = target;
  return [
    {
      op: "update",
      table: documentsTable,
      key: documentKey(document.id),
      change: {
        set: { parent, order, chain: chainIn(target), updated_at: at, ...along?.set },
        add: { position_version: 1, revision: 1 },
      },
      when: [
        ["position_version", "=", document.position_version],
        ["height", "=", document.height],
        ["deleted_at", "=", null],
        ...(along?.when ?? []),
      ],
    },
    ...dropChild(document),
    putChild({ parent, order, id: document.id }),
    ...documents.writes(),
    ...target.writes,
  ];
}

/**
 * Deletion time of a detached tree: so early that it is past the trash retention, so nobody can see or restore it.
 */
export const DETACHED_AT = "0001-01-01T00:00:00.000Z";

/** Plans a document of a detached tree, whose root has `DETACHED_AT`. */
export function planDetached(document: StoredDocument): Write[] {
  return [
    { op: "put", table: documentsTable, item: document, when: [["pk", "missing"]] },
    ...(document.parent === null ? [] : [putChild(document)]),
  ];
}

/** Attaches a detached tree. The whole tree becomes visible at once. */
export function planAttach(document: StoredDocument, target: TreePosition): Write[] {
  const documents = new DocumentWrites();
  requireTarget(documents, target, document.height);
  const { id, position_version } = document;
  const parent = target.parent?.document.id ?? null;
  const { order } = target;
  return [
    {
      op: "update",
      table: documentsTable,
      key: documentKey(id),
      change: {
        set: { parent, order, chain: chainIn(target), deleted_at: null },
        add: { position_version: 1 },
      },
      when: [
        ["position_version", "=", position_version],
        ["deleted_at", "=", DETACHED_AT],
      ],
    },
    putChild({ parent, order, id }),
    ...documents.writes(),
    ...target.writes,
  ];
}

/** Plans the deletion of a live document. Its descendants count as deleted with it. Reference 3.1. */
export function planDelete({ document }: DocumentNode, at: string): Write[] {
  const { id, parent, position_version } = document;
  const documents = new DocumentWrites();
  if (parent !== null) documents.removeChild(parent);
  return [
    {
      op: "update",
      table: documentsTable,
      key: documentKey(id),
      change: { set: { deleted_at: at, updated_at: at }, add: { position_version: 1, revision: 1 } },
      when: [
        ["position_version", "=", position_version],
        ["deleted_at", "=", null],
      ],
    },
    ...documents.writes(),
    // A deleted root keeps its key.
    ...(parent === null
      ? []
      : [
          ...dropChild(document),
          { op: "put", table: childrenTable, item: { pk: deletedChildrenOf(parent), sk: id, id } } as const,
        ]),
  ];
}

/**
 * Plans the restoration of a deleted document to its position among its siblings; a root has kept it. Reference 3.2.
 */
export function planRestore({ document }: DocumentNode, slot: Slot | undefined): Write[] {
  const { id, parent, position_version } = document;
  const order = slot?.order ?? document.order;
  const documents = new DocumentWrites();
  if (parent !== null) documents.add(parent, "numchild", 1);
  return [
    {
      op: "update",
      table: documentsTable,
      key: documentKey(id),
      change: { set: { deleted_at: null, order }, add: { position_version: 1, revision: 1 } },
      when: [
        ["position_version", "=", position_version],
        ["deleted_at", "<>", null],
      ],
    },
    ...documents.writes(),
    ...(parent === null
      ? []
      : [
          putChild({ parent, order, id }),
          { op: "delete", table: childrenTable, key: { pk: deletedChildrenOf(parent), sk: id } } as const,
        ]),
    ...(slot?.writes ?? []),
  ];
}
