import { derivedId } from "../../lib/platform/ids.ts";

/** What a data folder of documents is like. They are numbered: trees, hub, subtree that moves, flat roots. */
export interface DocumentData {
  readonly users: number;
  readonly trees: number;
  readonly levels: number;
  /** Further children on each level of a tree. */
  readonly beside: number;
  readonly inTree: number;
  /** Number of a root, and of how many children. */
  readonly hub: number;
  readonly children: number;
  /** Number of a root, and of how many documents with it. */
  readonly moved: number;
  readonly inMoved: number;
  /** Number of the first flat root. Before it all are in trees, and one user has a row for each. */
  readonly flat: number;
  /** Flat roots that the same user has rows for besides, and another one. */
  readonly deepFlat: number;
  readonly wideRows: number;
  /** Documents that a third user owns: hub, the subtree that moves, a tree, flat roots. */
  readonly owned: readonly number[];
}

/** Rows of one user. */
const ROWS_MAX = 10_000;
const OWNED = 20;
/** Of a subtree that moves: each so many, one of them goes a level deeper. */
export const GROUP = 37;

/** Of how many documents there are. */
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

/** Numbers of documents that the one who owns a few may read, so many from each of these on. */
export const reachedByOwner = ({ hub, children, moved, inMoved, inTree, owned, flat }: DocumentData) => [
  { from: 0, count: inTree },
  { from: hub, count: 1 + children },
  { from: moved, count: inMoved },
  { from: flat, count: owned.filter((number) => number >= flat).length },
];

/** Id of a document, the same in every run. */
export const idOf = (number: number): string => derivedId("benchmark-document", `${number}`);

/** The one that lies deepest in a tree. */
export const deepestOf = ({ inTree }: DocumentData, tree: number): number => (tree + 1) * inTree - 1;

export const titleOf = (number: number): string => `Compte rendu n° ${number}, année ${1950 + (number % 90)}`;
