import { derivedId } from "../../lib/platform/ids.ts";

/** Structure of the benchmark documents, which are numbered: trees, hub, subtree to move, flat roots. */
export interface DocumentData {
  readonly users: number;
  readonly trees: number;
  readonly levels: number;
  /** Additional children on each level of a tree. */
  readonly beside: number;
  readonly inTree: number;
  /** Number of the root with many children; `children` is their count. */
  readonly hub: number;
  readonly children: number;
  /** Number of the root of the subtree to move; `inMoved` is its count of documents, including the root. */
  readonly moved: number;
  readonly inMoved: number;
  /** Number of the first flat root. All documents before it are in trees, and one user has a row for each. */
  readonly flat: number;
  /** Count of flat roots with rows of the same user; `wideRows` is that of another user. */
  readonly deepFlat: number;
  readonly wideRows: number;
  /** Numbers of the documents that a third user owns: hub, subtree to move, a tree, flat roots. */
  readonly owned: readonly number[];
}

/** Maximum of rows per user. */
const ROWS_MAX = 10_000;
const OWNED = 20;
/** Group size in the subtree to move: the first document is a child of the root, the others are its children. */
export const GROUP = 37;

/** The structure for a number of documents. */
export function documentData(count: number): DocumentData {
  const part = Math.min(1, count / 10_000);
  const [levels, beside] = [10, 10];
  const inTree = 1 + (levels - 1) * (beside + 1);
  const trees = Math.ceil(60 * part);
  const children = Math.ceil(1_000 * part);
  const inMoved = Math.ceil(1_000 * part);
  const hub = trees * inTree;
  const moved = hub + 1 + children;
  const flat = moved + inMoved;
  const users = count > 10_000 ? 1_000 : Math.ceil(200 * part);
  const ownedFlat = Array.from({ length: OWNED - 3 }, (_, at) => flat + at);
  return {
    users,
    trees,
    levels,
    beside,
    inTree,
    hub,
    children,
    moved,
    inMoved,
    flat,
    deepFlat: Math.min(ROWS_MAX, count) - flat,
    wideRows: Math.min(ROWS_MAX, count - flat),
    owned: [hub, moved, 0, ...ownedFlat],
  };
}

/** Ranges of document numbers that the owner of `owned` can read. */
export const reachedByOwner = ({ hub, children, moved, inMoved, inTree, owned, flat }: DocumentData) => [
  { from: 0, count: inTree },
  { from: hub, count: 1 + children },
  { from: moved, count: inMoved },
  { from: flat, count: owned.filter((number) => number >= flat).length },
];

/** Id of a document, the same in every run of the benchmark. */
export const idOf = (number: number): string => derivedId("benchmark-document", `${number}`);

/** Number of the deepest document of a tree. */
export const deepestOf = ({ inTree }: DocumentData, tree: number): number => (tree + 1) * inTree - 1;

export const titleOf = (number: number): string => `Compte rendu n° ${number}, année ${1950 + (number % 90)}`;
