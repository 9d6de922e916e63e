import type { Deps } from "../../lib/deps.ts";
import { countAccesses, planFirstAccess } from "../../lib/documents/access/grants.ts";
import { findSeen, type Seen } from "../../lib/documents/access/seen.ts";
import { commitChange } from "../../lib/documents/commit.ts";
import { createChild, createDocument } from "../../lib/documents/documents/create.ts";
import { planInsert } from "../../lib/documents/tree/place.ts";
import { newSegment } from "../../lib/documents/tree/segment.ts";
import type { StoredUser } from "../../lib/documents/users/table.ts";
import { planUser } from "../../lib/documents/users/users.ts";
import type { Write } from "../../lib/platform/tables.ts";
import { type DocumentData, documentData, titleOf } from "./document-data.ts";

const UNDER_WAY = 20;
/** Four writes each. */
const ROOTS_AT_ONCE = 20;
/** Three writes each. */
const GIVEN_AT_ONCE = 30;

/**
 * Fills a data folder with so many documents by the functions behind the endpoints: trees one document after another,
 * flat roots many in a transaction.
 */
export async function fillDocuments(deps: Deps, count: number): Promise<void> {
  const data = documentData(count);
  const user = async (name: string): Promise<StoredUser> => {
    const { user: made, writes } = planUser(deps, { email: `${name}@example.com` });
    await deps.tables.write(writes);
    return made;
  };
  const [deep, wide, small] = [await user("deep"), await user("wide"), await user("small")];
  const others: StoredUser[] = [];
  for (let number = 0; number < data.users; number += 1) others.push(await user(`user-${number}`));
  const inTrees = await fillTrees(deps, deep, data);
  const flat = await fillRoots(deps, others, inTrees.length, count - inTrees.length);
  await giveEach(
    deps,
    deep,
    inTrees.filter(({ isRoot }) => !isRoot).map(({ id }) => id),
  );
  await giveEach(deps, deep, flat.slice(0, data.deepFlat));
  await giveEach(deps, wide, flat.slice(0, data.wideRows));
  await giveEach(deps, small, flat.slice(0, data.smallRows));
}

interface Made {
  readonly id: string;
  readonly isRoot: boolean;
}

async function fillTrees(deps: Deps, user: StoredUser, { trees, levels, beside, children }: DocumentData) {
  const made: Made[] = [];
  const next = () => ({ title: titleOf(made.length) });
  const root = async (): Promise<Seen> => {
    const seen = await createDocument(deps, user, next());
    made.push({ id: seen.document.id, isRoot: true });
    return seen;
  };
  const child = async (parent: Seen): Promise<Seen> => {
    const seen = await createChild(deps, user, await findSeen(deps, user, parent.document.id), next());
    made.push({ id: seen.document.id, isRoot: false });
    return seen;
  };
  for (let tree = 0; tree < trees; tree += 1) {
    let above = await root();
    for (let level = 1; level < levels; level += 1) {
      for (let number = 0; number < beside; number += 1) await child(above);
      above = await child(above);
    }
  }
  const hub = await root();
  for (let number = 0; number < children; number += 1) await child(hub);
  return made;
}

async function fillRoots(
  deps: Deps,
  users: readonly StoredUser[],
  first: number,
  count: number,
): Promise<string[]> {
  const ids: string[] = [];
  const batches: (() => Promise<void>)[] = [];
  for (let start = 0; start < count; start += ROOTS_AT_ONCE) {
    const numbers = Array.from({ length: Math.min(ROOTS_AT_ONCE, count - start) }, (_, at) => start + at);
    const writes = numbers.flatMap((number): Write[] => {
      const creator = users[number % users.length] as StoredUser;
      const [id, at] = [deps.ids.random(), new Date(deps.clock.now() - number * 1_000).toISOString()];
      ids.push(id);
      const plan = planInsert(
        {
          ...{
            id,
            title: titleOf(first + number),
            excerpt: null,
            link_reach: "restricted",
            link_role: "reader",
          },
          ...{ creator: creator.id, duplicated_from: null, created_at: at, updated_at: at, deleted_at: null },
          ...{ segment: newSegment(deps), accesses: 1, owners: 1 },
        },
        undefined,
      );
      return [...plan.writes, ...planFirstAccess(deps, id, creator.id, "owner")];
    });
    batches.push(() => commit(deps, writes));
  }
  await inParallel(batches);
  return ids;
}

async function giveEach(deps: Deps, user: StoredUser, documents: readonly string[]): Promise<void> {
  const batches: (() => Promise<void>)[] = [];
  for (let start = 0; start < documents.length; start += GIVEN_AT_ONCE) {
    const some = documents.slice(start, start + GIVEN_AT_ONCE);
    batches.push(() =>
      commit(
        deps,
        some.flatMap((id) => [
          ...planFirstAccess(deps, id, user.id, "reader"),
          countAccesses({ id, parent: null, place: 1 }, 1, 0),
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
