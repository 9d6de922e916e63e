import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readAll } from "../../events/read-all.ts";
import { type TestDeps, testDeps } from "../../testing/test-deps.ts";
import { openAllDocuments, readAllDocuments } from "../../testing/test-expected-lists.ts";
import {
  arbitraryOperation,
  createScenario,
  type Operation,
  type SharingScenario,
} from "../../testing/test-sharing-scenario.ts";
import { accessesTable, relationKey, relationsTable } from "../tables/accesses.ts";
import { childrenOf, childrenTable, deletedChildrenOf, type StoredDocument } from "../tables/documents.ts";

let test: TestDeps;
beforeEach(async () => {
  test = await testDeps();
});
afterEach(() => test.close());

/** A tree in which all three users have nearly all permissions. */
const BEGUN: readonly Operation[] = [
  { is: "create", who: "ann", title: "one" },
  { is: "give", who: "ann", which: 0, whom: "ben", role: "owner" },
  { is: "give", who: "ann", which: 0, whom: "cat", role: "administrator" },
  ...[0, 0, 1, 1, 2, 3].map((which): Operation => ({ is: "child", who: "ben", which, title: "Two" })),
  { is: "create", who: "ben", title: "three" },
  { is: "give", who: "ben", which: 7, whom: "ann", role: "administrator" },
];
const anything = arbitraryOperation({
  child: 5,
  move: 8,
  delete: 3,
  restore: 2,
  give: 2,
  take: 3,
  link: 1,
  leave: 1,
  rename: 2,
  favorite: 1,
  mask: 1,
  open: 1,
  duplicate: 1,
});
const rounds = (deed: fc.Arbitrary<Operation>) =>
  fc.array(fc.array(deed, { minLength: 6, maxLength: 12, size: "max" }), { minLength: 3, maxLength: 5 });

async function begin(): Promise<SharingScenario> {
  const world = await createScenario(test);
  for (const one of BEGUN) expect((await world.perform(one))?.status).toBe(201);
  return world;
}

/** Runs all operations concurrently; each uses the documents that existed before. */
async function tryTogether(world: SharingScenario, deeds: readonly Operation[]) {
  test.clock.advance(1000);
  const answers = await Promise.all(deeds.map((one) => world.perform(one)));
  return answers.map((answer, index) => ({ deed: deeds[index], status: answer?.status ?? 0 }));
}

/** Checks the invariants of all stored data. */
async function expectWhole(world: SharingScenario): Promise<void> {
  const documents = await readAllDocuments(test, world);
  for (const document of documents.values()) {
    const { id, parent, order, deleted_at, numchild } = document;
    expectNoCycle(document, documents);
    const children = await readAll(test.deps, childrenTable, { pk: childrenOf(id) });
    expect({ id, numchild }).toEqual({ id, numchild: children.length });
    const known = children.map((child) => documents.get(child.id));
    expect(known.map((child) => [child?.parent, child?.order, child?.deleted_at])).toEqual(
      children.map(({ sk }) => [id, sk, null]),
    );
    // It is listed exactly by its parent.
    if (parent !== null) {
      const [pk, sk] = deleted_at === null ? [childrenOf(parent), order] : [deletedChildrenOf(parent), id];
      expect((await test.deps.tables.get(childrenTable, { pk, sk }))?.id).toBe(id);
    }
    await expectCounted(world, document);
  }
}

function expectNoCycle(document: StoredDocument, documents: ReadonlyMap<string, StoredDocument>): void {
  const seen = new Set<string>();
  for (let at: StoredDocument | undefined = document; at !== undefined; at = documents.get(at.parent ?? "")) {
    expect(seen.has(at.id)).toBe(false);
    seen.add(at.id);
  }
}

/** The access count is exact, each access has its row in the user's relations, and a root has an owner. */
async function expectCounted(
  world: SharingScenario,
  { id, parent, accesses, owners }: StoredDocument,
): Promise<void> {
  const rows = await readAll(test.deps, accessesTable, { pk: id });
  const owning = rows.filter(({ role }) => role === "owner");
  expect({ id, accesses, owners }).toEqual({ id, accesses: rows.length, owners: owning.length });
  if (parent === null) expect(owning.length).toBeGreaterThan(0);
  for (const { id: user } of world.users.values()) {
    const relation = await test.deps.tables.get(relationsTable, relationKey(user, id));
    expect(relation?.role).toBe(rows.find((row) => row.user === user)?.role);
  }
}

/** Statuses of a change that concurrent changes may make impossible: success or a clear error. */
const CLEAR = [0, 200, 201, 204, 400, 403, 404, 409];

describe("concurrent changes of the same documents", () => {
  it("each get a clear response, and keep trees, counts and lists consistent", async () => {
    await fc.assert(
      fc.asyncProperty(rounds(anything), async (all) => {
        const world = await begin();
        for (const deeds of all) {
          const made = world.ids.length;
          const answers = await tryTogether(world, deeds);
          for (const one of answers) expect(one).toEqual({ ...one, status: expect.toBeOneOf(CLEAR) });
          const created = answers.filter(({ status }) => status === 201);
          const makers = created.filter(({ deed }) => deed?.is === "child" || deed?.is === "duplicate");
          expect(world.ids.length - made).toBe(makers.length);
          await expectWhole(world);
        }
        for (const who of ["ann", "ben", "cat"] as const) {
          const { json } = await world.request("GET /documents/all", who, { query: { page_size: "200" } });
          const library = await openAllDocuments(test, world, who);
          const shown: string[] = json.results.map(({ id }: { id: string }) => id);
          expect(shown.toSorted()).toEqual(library.all().toSorted());
        }
      }),
      { numRuns: 20 },
    );
  });

  it("all create their children", async () => {
    const world = await begin();
    const child = (index: number): Operation => ({
      is: "child",
      which: index % 3,
      title: "one",
      who: (["ann", "ben", "cat"] as const)[index % 3] ?? "ann",
    });
    const answers = await tryTogether(
      world,
      Array.from({ length: 24 }, (_, index) => child(index)),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
    expect(new Set(world.ids).size).toBe(BEGUN.length - 3 + 24);
    await expectWhole(world);
  });

  it("keep an owner for a root: only one of two owners removes the other's access", async () => {
    for (let round = 0; round < 8; round += 1) {
      const world = await begin();
      const answers = await tryTogether(world, [
        { is: "take", who: "ann", which: 0, whom: "ben" },
        { is: "take", who: "ben", which: 0, whom: "ann" },
      ]);
      expect(answers.map(({ status }) => status).toSorted()).toEqual([204, 403]);
      await expectWhole(world);
    }
  });

  it("move each document to a permitted position: a move fails only because of earlier changes", async () => {
    const move = arbitraryOperation({ move: 1 }).map((one): Operation => ({ ...one, who: "ann" }));
    await fc.assert(
      fc.asyncProperty(rounds(move), async (all) => {
        const world = await begin();
        for (const deeds of all) {
          for (const { deed, status } of await tryTogether(world, deeds))
            expect({ deed, status }).toEqual({ deed, status: expect.toBeOneOf([200, 400, 403, 409]) });
          await expectWhole(world);
        }
        // Nothing is lost: the owner of all trees owns everything that was moved out of them.
        const { json } = await world.request("GET /documents/all", "ben", { query: { page_size: "200" } });
        expect(json.results.map(({ id }: { id: string }) => id).toSorted()).toEqual(world.ids.toSorted());
      }),
      { numRuns: 20 },
    );
  });
});
