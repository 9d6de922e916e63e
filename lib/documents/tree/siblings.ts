import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import { type CommitDeps, commitChange } from "../changes/commit.ts";
import {
  arrangementKey,
  type ChildItem,
  childrenOf,
  childrenTable,
  documentKey,
  documentsTable,
  type StoredDocument,
} from "../tables/documents.ts";
import { parseSegment, SEGMENTS, toSegment } from "./path-segment.ts";

export type SiblingDeps = CommitDeps & Pick<Ports, "ids">;

/** A position among siblings: first, last, or next to one of them. */
export type SiblingPosition =
  | "first"
  | "last"
  | { readonly of: StoredDocument; readonly side: "left" | "right" };

/** A free key for a child, and the writes that reserve it. */
export interface Slot {
  readonly order: string;
  readonly writes: readonly Write[];
}

/** Number of the first child, with space on both sides. */
const START = SEGMENTS / 4;
/**
 * Minimum distance between children at an end. A random distance up to the same size is added, so that concurrent
 * inserts rarely collide.
 */
const STEP = 1_024;
/** Minimum distance between children after spreading. */
const SPREAD = 32;
/** Children spread on each side at first; doubled until there is enough space. */
const REACH = 4;
/** Children spread per transaction: each takes three items. */
const SPREAD_AT_ONCE = 24;
/** Maximum attempts to find a free key. */
const TRIES_MAX = 200;

/**
 * Finds a free key for a child or a root at a position. The caller's write requires that the key is free; on a
 * collision the caller calls this again. If no number is free between the neighbors, it spreads the siblings first.
 */
export async function allocateOrder(
  deps: SiblingDeps,
  parent: string | null,
  beside: SiblingPosition,
): Promise<Slot> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const arrangement = beside === "last" ? 0 : await readArrangementVersion(deps, parent);
    const { left, right } = await findNeighbors(deps, parent, beside, tries > 0);
    const number = pickNumberBetween(deps, left, right);
    if (number !== undefined) {
      // Appending does not conflict with a concurrent spread.
      const writes = right === undefined ? [] : [bumpArrangementVersion(parent, arrangement)];
      return { order: toSegment(number), writes };
    }
    await spreadSiblings(deps, parent, left);
  }
  throw new Error("no free position among the siblings");
}

/** Returns a restored document's former key, or a key next to it if it is taken. */
export async function reclaimOrder(deps: SiblingDeps, parent: string, order: string): Promise<Slot> {
  if (parseSegment(order) === undefined) return allocateOrder(deps, parent, "last");
  const taken = await deps.tables.get(childrenTable, { pk: childrenOf(parent), sk: order });
  const sibling = taken && (await deps.tables.get(documentsTable, documentKey(taken.id)));
  return sibling === undefined
    ? { order, writes: [] }
    : allocateOrder(deps, parent, { of: sibling, side: "right" });
}

/** Returns keys for the children of a new parent. */
export const initialOrders = (count: number): string[] =>
  Array.from({ length: count }, (_, at) => toSegment(START + at * STEP));

/** Finds the keys to the left and right of a position; undefined at an end. */
async function findNeighbors(
  deps: SiblingDeps,
  parent: string | null,
  beside: SiblingPosition,
  isAgain: boolean,
): Promise<{ readonly left?: string | undefined; readonly right?: string | undefined }> {
  const pk = childrenOf(parent);
  const next = async (
    sk: { after?: string; before?: string },
    reverse: boolean,
  ): Promise<string | undefined> => {
    const { items } = await deps.tables.query(childrenTable, { pk, sk, reverse, limit: 1 });
    return items[0]?.sk;
  };
  if (beside === "first") return { right: await next({}, false) };
  if (beside === "last") return { left: await next({}, true) };
  const { of, side } = beside;
  // Spreading may have changed its key.
  const { order } = (isAgain ? await deps.tables.get(documentsTable, documentKey(of.id)) : undefined) ?? of;
  // Roots stored before roots had an order have no key.
  if (parent === null && parseSegment(order) === undefined) return { left: await next({}, true) };
  if (side === "left") return { left: await next({ before: order }, true), right: order };
  return { left: order, right: await next({ after: order }, false) };
}

/** Picks a number between two keys; undefined if none is free. */
function pickNumberBetween(
  { ids }: SiblingDeps,
  left: string | undefined,
  right: string | undefined,
): number | undefined {
  const random = Number.parseInt(ids.random().slice(-8), 16) % STEP;
  if (left === undefined && right === undefined) return START + random;
  const low = left === undefined ? -1 : parseSegment(left);
  const high = right === undefined ? SEGMENTS : parseSegment(right);
  if (low === undefined || high === undefined || high - low < 2) return undefined;
  const room = high - low - 1;
  if (right === undefined && room > 2 * STEP) return low + STEP + random;
  if (left === undefined && room > 2 * STEP) return high - STEP - random;
  return low + Math.ceil(room / 2);
}

/** Reads how many times children were inserted before the end or spread. */
async function readArrangementVersion(deps: SiblingDeps, parent: string | null): Promise<number> {
  return (await deps.tables.get(childrenTable, arrangementKey(parent)))?.version ?? 0;
}

/** Fails if a child was inserted before the end, or children were spread, since `version` was read. */
const bumpArrangementVersion = (parent: string | null, version: number): Write => ({
  op: "put",
  table: childrenTable,
  item: { ...arrangementKey(parent), id: "", version: version + 1 },
  when: [version === 0 ? ["pk", "missing"] : ["version", "=", version]],
});

/**
 * Increases the distance between the siblings around the key `left`, in batches: as few siblings as necessary. Their
 * order never changes, and their descendants are not written.
 */
async function spreadSiblings(
  deps: SiblingDeps,
  parent: string | null,
  left: string | undefined,
): Promise<void> {
  await commitChange(deps, async () => {
    const version = await readArrangementVersion(deps, parent);
    const moves = await planKeyMoves(deps, parent, left);
    const some = moves.slice(0, SPREAD_AT_ONCE);
    const documents = await deps.tables.batchGet(
      documentsTable,
      some.map(({ id }) => documentKey(id)),
    );
    const known = new Map(documents.map((document) => [document.id, document]));
    const isHere = some.every(({ id, from }) => {
      const document = known.get(id);
      return document?.parent === parent && document.order === from;
    });
    // Changed concurrently: the caller reads again.
    if (some.length === 0 || !isHere) return { writes: [], events: [], result: undefined };
    return {
      writes: [
        bumpArrangementVersion(parent, version),
        ...toChildWrites(childrenOf(parent), some),
        ...some.map(
          ({ id, to }): Write => ({
            op: "update",
            table: documentsTable,
            key: documentKey(id),
            change: { set: { order: to }, add: { position_version: 1 } },
            when: [["position_version", "=", known.get(id)?.position_version ?? 0]],
          }),
        ),
      ],
      events: [],
      result: undefined,
    };
  });
}

interface KeyMove {
  readonly id: string;
  readonly from: string;
  readonly to: string;
}

/** Plans the new keys in an order that keeps the siblings sorted if it is interrupted. */
async function planKeyMoves(
  deps: SiblingDeps,
  parent: string | null,
  left: string | undefined,
): Promise<readonly KeyMove[]> {
  const pk = childrenOf(parent);
  const side = async (sk: { to?: string; after?: string }, reverse: boolean, limit: number) =>
    (await deps.tables.query<ChildItem>(childrenTable, { pk, sk, reverse, limit })).items;
  for (let reach = REACH; ; reach *= 2) {
    const before = left === undefined ? [] : (await side({ to: left }, true, reach + 1)).toReversed();
    const after = await side(left === undefined ? {} : { after: left }, false, reach + 1);
    const isWhole = before.length <= reach && after.length <= reach;
    const all = [...before, ...after].map(({ id, sk }) => ({ id, from: sk, number: parseSegment(sk) }));
    const isOld = all.some(({ number }) => number === undefined);
    if (isOld && !isWhole) continue;
    const numbers = all.map(({ number = SEGMENTS }) => number);
    const high = isOld ? SEGMENTS / 2 : findUpperBound(numbers, after.length > reach, after.length === 0);
    const some = all.slice(before.length > reach ? 1 : 0, after.length > reach ? -1 : undefined);
    const [first = 0] = numbers;
    // Without siblings on the left, move no further than necessary, to keep space for a first child.
    const outer = Math.max(-1, Math.min(first - 1, high - (some.length + 1) * STEP));
    const low = before.length > reach ? first : outer;
    const each = Math.min((high - low) / (some.length + 1), STEP);
    if (each < SPREAD && !isWhole) continue;
    const placed = some.map(({ id, from, number = SEGMENTS }, at) => {
      // Keeps new keys before any child that is appended concurrently.
      const to = Math.min(low + Math.floor((at + 1) * each), number + STEP - 1);
      return { id, from, to: toSegment(to), by: to - number };
    });
    const up = placed.filter(({ by }) => by > 0).toReversed();
    return [...up, ...placed.filter(({ by }) => by < 0)];
  }
}

/**
 * Returns the upper bound of the new numbers: the first sibling that is not spread, or the space left for concurrent
 * appends.
 */
function findUpperBound(numbers: readonly number[], isBounded: boolean, isEnd: boolean): number {
  const last = numbers.at(-1) ?? 0;
  if (isBounded) return last;
  return isEnd || last + 2 * STEP >= SEGMENTS ? last + 1 : last + STEP;
}

/** Writes a key once if one child leaves it and another takes it. */
function toChildWrites(pk: string, moves: readonly KeyMove[]): Write[] {
  const left = new Map(moves.map(({ from, id }) => [from, id]));
  const table = childrenTable;
  const puts = moves.map(({ id, to }): Write => {
    const before = left.get(to);
    left.delete(to);
    const when = [before === undefined ? (["pk", "missing"] as const) : (["id", "=", before] as const)];
    return { op: "put", table, item: { pk, sk: to, id }, when };
  });
  const gone = [...left].map(
    ([sk, id]): Write => ({ op: "delete", table, key: { pk, sk }, when: [["id", "=", id]] }),
  );
  return [...puts, ...gone];
}
