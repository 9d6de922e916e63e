import type { Deps } from "../../lib/app/compose.ts";
import { type DocumentAccess, findDocument } from "../../lib/documents/authorization/document-access.ts";
import { commitChange } from "../../lib/documents/changes/commit.ts";
import { adjustAccessCounts, planInitialAccess } from "../../lib/documents/grants/grants.ts";
import { createChild, createDocument } from "../../lib/documents/records/create.ts";
import type { StoredUser } from "../../lib/documents/tables/users.ts";
import { toSegment } from "../../lib/documents/tree/path-segment.ts";
import { planInsert } from "../../lib/documents/tree/tree-writes.ts";
import { planUser } from "../../lib/documents/users/users.ts";
import type { Write } from "../../lib/platform/tables.ts";
import { type DocumentData, documentData, GROUP, idOf, titleOf } from "./document-data.ts";

const UNDER_WAY = 20;
/** Distance between the path segments of two roots. */
const BETWEEN_ROOTS = 1_024;
/** Roots per transaction; each needs four writes. */
const ROOTS_AT_ONCE = 20;
/** Accesses per transaction; each needs three writes. */
const GIVEN_AT_ONCE = 30;

/**
 * Fills a data folder with `count` documents through the functions of the endpoints: trees one document at a time,
 * flat roots several per transaction.
 */
export async function fillDocuments(deps: Deps, count: number): Promise<void> {
  const data = documentData(count);
  const user = async (name: string): Promise<StoredUser> => {
    const { user: made, writes } = planUser(deps, { email: `${name}@example.com` });
    await deps.tables.write(writes);
    return made;
  };
  const [deep, wide, few] = [await user("deep"), await user("wide"), await user("few")];
  const others: StoredUser[] = [];
  for (let number = 0; number < data.users; number += 1) others.push(await user(`user-${number}`));
  const roots = await fillTrees(deps, deep, data);
  await fillRoots(deps, others, data.flat, count - data.flat);
  const inTrees = numbersFrom(0, data.flat).filter((number) => !roots.has(number));
  await giveEach(deps, deep, "reader", [...inTrees, ...numbersFrom(data.flat, data.deepFlat)]);
  await giveEach(deps, wide, "reader", numbersFrom(data.flat, data.wideRows));
  await giveEach(deps, few, "owner", data.owned);
}

const numbersFrom = (first: number, count: number): number[] =>
  Array.from({ length: count }, (_, at) => first + at);

/** Creates the documents in trees. Returns the numbers of the roots. */
async function fillTrees(
  deps: Deps,
  user: StoredUser,
  { trees, levels, beside, children, inMoved }: DocumentData,
): Promise<ReadonlySet<number>> {
  const roots = new Set<number>();
  let made = 0;
  const next = () => {
    made += 1;
    return { id: idOf(made - 1), title: titleOf(made - 1) };
  };
  const root = (): Promise<DocumentAccess> => {
    roots.add(made);
    return createDocument(deps, user, next());
  };
  const child = async (parent: DocumentAccess): Promise<DocumentAccess> =>
    createChild(deps, user, await findDocument(deps, user, parent.document.id), next());
  for (let tree = 0; tree < trees; tree += 1) {
    let above = await root();
    for (let level = 1; level < levels; level += 1) {
      for (let number = 0; number < beside; number += 1) await child(above);
      above = await child(above);
    }
  }
  const hub = await root();
  for (let number = 0; number < children; number += 1) await child(hub);
  const moved = await root();
  let group = moved;
  for (let number = 1; number < inMoved; number += 1) {
    if (number % GROUP === 1) group = await child(moved);
    else await child(group);
  }
  return roots;
}

async function fillRoots(
  deps: Deps,
  users: readonly StoredUser[],
  first: number,
  count: number,
): Promise<void> {
  const batches: (() => Promise<void>)[] = [];
  for (let start = 0; start < count; start += ROOTS_AT_ONCE) {
    const numbers = Array.from({ length: Math.min(ROOTS_AT_ONCE, count - start) }, (_, at) => start + at);
    const writes = numbers.flatMap((number): Write[] => {
      const creator = users[number % users.length] as StoredUser;
      const [id, at] = [idOf(first + number), new Date(deps.clock.now() - number * 1_000).toISOString()];
      const plan = planInsert(
        {
          id,
          title: titleOf(first + number),
          excerpt: null,
          link_reach: "restricted",
          link_role: "reader",
          creator: creator.id,
          duplicated_from: null,
          created_at: at,
          updated_at: at,
          deleted_at: null,
          accesses: 1,
          owners: 1,
        },
        { parent: undefined, order: toSegment((first + number) * BETWEEN_ROOTS), writes: [] },
      );
      return [...plan.writes, ...planInitialAccess(deps, id, creator.id, "owner")];
    });
    batches.push(() => commit(deps, writes));
  }
  await inParallel(batches);
}

export async function giveEach(
  deps: Deps,
  user: StoredUser,
  role: "reader" | "owner",
  documents: readonly number[],
): Promise<void> {
  const batches: (() => Promise<void>)[] = [];
  for (let start = 0; start < documents.length; start += GIVEN_AT_ONCE) {
    const some = documents.slice(start, start + GIVEN_AT_ONCE).map(idOf);
    batches.push(() =>
      commit(
        deps,
        some.flatMap((id) => [
          ...planInitialAccess(deps, id, user.id, role),
          adjustAccessCounts({ id, parent: null, position_version: 1 }, 1, role === "owner" ? 1 : 0),
        ]),
      ),
    );
  }
  await inParallel(batches);
}

const commit = (deps: Deps, writes: readonly Write[]): Promise<void> =>
  commitChange(deps, async () => ({ writes, events: [], result: undefined }));

async function inParallel(work: readonly (() => Promise<void>)[]): Promise<void> {
  const queue = work[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (const one of queue) await one();
  };
  await Promise.all(Array.from({ length: UNDER_WAY }, worker));
}
