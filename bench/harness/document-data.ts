/** What a data folder of documents is like. */
export interface DocumentData {
  readonly users: number;
  readonly trees: number;
  readonly levels: number;
  /** Further children on each level of a tree. */
  readonly beside: number;
  /** Of one node. */
  readonly children: number;
  /** Documents in trees, all of which one user has a row for; and flat roots that they have one for besides. */
  readonly inTrees: number;
  readonly deepFlat: number;
  /** Flat roots that another user has rows for, and a third. */
  readonly wideRows: number;
  readonly smallRows: number;
}

/** Rows of one user. */
const ROWS_MAX = 10_000;

/** Of how many documents there are. */
export function documentData(count: number): DocumentData {
  const part = Math.min(1, count / 10_000);
  const trees = Math.ceil(60 * part);
  const children = Math.ceil(1_000 * part);
  const [levels, beside] = [10, 9];
  const inTrees = trees * (1 + (levels - 1) * (beside + 1)) + 1 + children;
  const users = count > 10_000 ? 1_000 : Math.ceil(200 * part);
  return {
    ...{ users, trees, levels, beside, children, inTrees },
    deepFlat: Math.min(ROWS_MAX, count) - inTrees,
    ...{ wideRows: Math.min(ROWS_MAX, count - inTrees), smallRows: 20 },
  };
}

export const titleOf = (number: number): string => `Compte rendu n° ${number}, année ${1950 + (number % 90)}`;
