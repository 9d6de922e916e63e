import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type TestDeps, testDeps } from "../../testing/test-deps.ts";
import { commitChange } from "../changes/commit.ts";
import { childrenOf, childrenTable, DEPTH_MAX, documentKey, documentsTable } from "../tables/documents.ts";
import { ancestorsAndSelf, type DocumentNode, findDeletedAt, readNode, toTreePath } from "./ancestors.ts";
import { isSameOrDescendant, POSITIONS, type Position, resolveTarget } from "./move-target.ts";
import { allocateOrder, reclaimOrder } from "./siblings.ts";
import { planDelete, planInsert, planMove, planRestore, TreeDepthError } from "./tree-writes.ts";

let test: TestDeps;

beforeEach(async () => {
  test = await testDeps();
});
afterEach(() => test.close());

const at = (): string => new Date(test.clock.now()).toISOString();
const change = <Result>(plan: () => Promise<{ writes: ReturnType<typeof planMove>; result: Result }>) =>
  commitChange(test.deps, async () => ({ ...(await plan()), events: [] }));

async function known(id: string): Promise<DocumentNode> {
  const found = await readNode(test.deps, id);
  if (found === undefined) throw new Error(`there is no document ${id}`);
  return found;
}

function create(parent?: string): Promise<string> {
  const id = test.deps.ids.random();
  return change(async () => {
    const above = parent === undefined ? undefined : await known(parent);
    const target = { parent: above, ...(await allocateOrder(test.deps, parent ?? null, "last")) };
    const { writes } = planInsert(
      {
        id,
        title: null,
        excerpt: null,
        link_reach: "restricted",
        link_role: "reader",
        creator: null,
        duplicated_from: null,
        created_at: at(),
        updated_at: at(),
        deleted_at: null,
        accesses: 0,
        owners: 0,
      },
      target,
    );
    return { writes, result: id };
  });
}

/** Returns false if the document would become its own descendant. */
const move = (id: string, target: string, position: Position): Promise<boolean> =>
  change(async () => {
    const [moved, beside] = await Promise.all([known(id), known(target)]);
    if (isSameOrDescendant(beside, id)) return { writes: [], result: false };
    return { writes: planMove(moved, await resolveTarget(test.deps, beside, position), at()), result: true };
  });

const remove = (id: string): Promise<void> =>
  change(async () => ({ writes: planDelete(await known(id), at()), result: undefined }));

const restore = (id: string): Promise<void> =>
  change(async () => {
    const place = await known(id);
    const { parent, order } = place.document;
    const again = parent === null ? undefined : await reclaimOrder(test.deps, parent, order);
    return { writes: planRestore(place, again), result: undefined };
  });

async function childrenIds(parent: string): Promise<string[]> {
  const { items } = await test.deps.tables.query(childrenTable, { pk: childrenOf(parent) });
  return items.map(({ id }) => id);
}

describe("a tree", () => {
  it("keeps and counts children in the order of creation", async () => {
    const root = await create();
    const made = [await create(root), await create(root), await create(root)];
    expect(await childrenIds(root)).toEqual(made);
    expect((await known(root)).document.numchild).toBe(3);
  });

  it("accepts all concurrent creations below the same parent", async () => {
    const root = await create();
    const made = await Promise.all(Array.from({ length: 24 }, () => create(root)));
    expect(new Set(await childrenIds(root))).toEqual(new Set(made));
    expect((await known(root)).document).toMatchObject({ numchild: 24, height: 1 });
  });

  it("shows the new path of descendants of a moved document", async () => {
    const [root, other] = [await create(), await create()];
    const child = await create(root);
    const leaf = await create(child);
    await move(child, other, "last-child");
    const place = await known(leaf);
    expect(ancestorsAndSelf(place).map(({ id }) => id)).toEqual([other, child, leaf]);
    expect(toTreePath(place)).toHaveLength(21);
    expect(toTreePath(place).startsWith(toTreePath(await known(child)))).toBe(true);
    await move(child, root, "right");
    expect(ancestorsAndSelf(await known(leaf)).map(({ id }) => id)).toEqual([child, leaf]);
    expect(await childrenIds(other)).toEqual([]);
  });

  it("rejects one of two concurrent moves that would form a cycle", async () => {
    for (let round = 0; round < 10; round += 1) {
      const [one, other] = [await create(), await create()];
      const below = await create(other);
      const outcome = await Promise.all([move(one, below, "first-child"), move(other, one, "last-child")]);
      expect(outcome.filter(Boolean)).toHaveLength(1);
      const lines = await Promise.all([one, other, below].map(known));
      for (const place of lines)
        expect(new Set(ancestorsAndSelf(place)).size).toBe(ancestorsAndSelf(place).length);
    }
  });

  it("accepts sixteen concurrent moves of the same documents", async () => {
    const parents = [await create(), await create()];
    const moved = [await create(parents[0]), await create(parents[0])];
    await Promise.all(
      Array.from({ length: 16 }, (_, n) =>
        move(moved[n % 2] ?? "", parents[(n >> 1) % 2] ?? "", "first-child"),
      ),
    );
    const held = await Promise.all(parents.map(childrenIds));
    expect(held.flat().toSorted()).toEqual(moved.toSorted());
    const counted = await Promise.all(parents.map(known));
    expect(counted.map(({ document }) => document.numchild)).toEqual(held.map(({ length }) => length));
  });

  it("never exceeds the maximum depth", async () => {
    const chain = [await create()];
    for (let depth = 1; depth < DEPTH_MAX; depth += 1) chain.push(await create(chain.at(-1)));
    await expect(create(chain.at(-1))).rejects.toThrow(TreeDepthError);
    const root = await create();
    await create(root);
    await expect(move(root, chain[DEPTH_MAX - 2] ?? "", "last-child")).rejects.toThrow(TreeDepthError);
    expect(await move(root, chain[DEPTH_MAX - 3] ?? "", "last-child")).toBe(true);
  });

  it("deletes a document with its descendants, and restores exactly those", async () => {
    const root = await create();
    const [child, sibling] = [await create(root), await create(root)];
    const leaf = await create(child);
    await remove(leaf);
    const first = findDeletedAt(await known(leaf));
    test.clock.advance(1_000);
    await remove(child);
    expect(await childrenIds(root)).toEqual([sibling]);
    expect((await known(root)).document.numchild).toBe(1);
    expect(findDeletedAt(await known(leaf))).toBe(first);
    const second = findDeletedAt(await known(child));
    await restore(leaf);
    expect(findDeletedAt(await known(leaf))).toBe(second);
    await restore(child);
    expect(await childrenIds(root)).toEqual([child, sibling]);
    expect([findDeletedAt(await known(leaf)), findDeletedAt(await known(child))]).toEqual([null, null]);
  });
});

type Step =
  | { readonly is: "create"; readonly parent: number }
  | { readonly is: "move"; readonly moved: number; readonly target: number; readonly position: Position }
  | { readonly is: "delete" | "restore"; readonly which: number };
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ is: fc.constant("create" as const), parent: fc.nat({ max: 30 }) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      is: fc.constant("move" as const),
      moved: fc.nat({ max: 30 }),
      target: fc.nat({ max: 30 }),
      position: fc.constantFrom(...POSITIONS),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      is: fc.constantFrom("delete" as const, "restore" as const),
      which: fc.nat({ max: 30 }),
    }),
  },
);

/** A model with plain lists. */
class Model {
  readonly parents = new Map<string, string | undefined>();
  readonly children = new Map<string, string[]>();
  readonly deleted = new Set<string>();
  readonly roots: string[] = [];

  of(parent: string | undefined): string[] {
    return parent === undefined ? this.roots : (this.children.get(parent) ?? []);
  }

  /** All documents that are not deleted, in tree order. */
  inOrder(siblings = this.roots): string[] {
    return siblings.flatMap((id) => (this.isLive(id) ? [id, ...this.inOrder(this.of(id))] : []));
  }

  isIn(id: string, other: string): boolean {
    for (let at: string | undefined = id; at !== undefined; at = this.parents.get(at))
      if (at === other) return true;
    return false;
  }

  isLive(id: string): boolean {
    for (let at: string | undefined = id; at !== undefined; at = this.parents.get(at))
      if (this.deleted.has(at)) return false;
    return true;
  }

  put(id: string, parent: string | undefined, index: (siblings: string[]) => number): void {
    this.parents.set(id, parent);
    if (!this.children.has(id)) this.children.set(id, []);
    const siblings = this.of(parent);
    siblings.splice(index(siblings), 0, id);
  }

  take(id: string): void {
    const siblings = this.of(this.parents.get(id));
    siblings.splice(siblings.indexOf(id), 1);
  }

  move(id: string, target: string, position: Position): void {
    this.take(id);
    const isChild = position === "first-child" || position === "last-child";
    const index = (siblings: string[]): number => {
      if (position.startsWith("first")) return 0;
      if (position.startsWith("last")) return siblings.length;
      return siblings.indexOf(target) + (position === "right" ? 1 : 0);
    };
    this.put(id, isChild ? target : this.parents.get(target), index);
  }
}

describe("any sequence of changes", () => {
  it("leaves each document in one position, in the requested order, and loses none", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
        const model = new Model();
        const ids: string[] = [];
        const pick = (index: number): string | undefined => ids[index % Math.max(1, ids.length)];
        for (const one of [{ is: "create", parent: 0 } as const, ...steps]) {
          test.clock.advance(1);
          if (one.is === "create") {
            // One in four is a root.
            const parent = one.parent % 4 === 0 ? undefined : pick(one.parent);
            if (parent !== undefined && !model.isLive(parent)) continue;
            const id = await create(parent);
            ids.push(id);
            model.put(id, parent, (siblings) => siblings.length);
          } else if (one.is === "move") {
            const [moved, target] = [pick(one.moved), pick(one.target)];
            if (moved === undefined || target === undefined) continue;
            if (!model.isLive(moved) || !model.isLive(target)) continue;
            const isRefused = model.isIn(target, moved);
            expect(await move(moved, target, one.position)).toBe(!isRefused);
            if (!isRefused) model.move(moved, target, one.position);
          } else {
            const id = pick(one.which);
            if (id === undefined) continue;
            if (one.is === "delete" && model.isLive(id)) {
              await remove(id);
              model.deleted.add(id);
              // A deleted root keeps its key.
              if (model.parents.get(id) !== undefined) model.take(id);
            }
          }
        }
        for (const id of ids) {
          const place = await known(id);
          const line: string[] = [];
          for (let up: string | undefined = id; up !== undefined; up = model.parents.get(up))
            line.unshift(up);
          expect(ancestorsAndSelf(place).map((document) => document.id)).toEqual(line);
          expect(findDeletedAt(place) === null).toBe(model.isLive(id));
          expect(await childrenIds(id)).toEqual(model.children.get(id));
          expect(place.document.numchild).toBe(model.children.get(id)?.length);
        }
        expect(await sortedByPath(ids.filter((id) => model.isLive(id)))).toEqual(model.inOrder());
      }),
      { numRuns: 25 },
    );
  });
});

/** Documents sorted by their paths, as clients sort them; all paths differ. */
async function sortedByPath(ids: readonly string[]): Promise<string[]> {
  const found = await Promise.all(ids.map(async (id) => ({ id, path: toTreePath(await known(id)) })));
  for (const { path } of found) expect(path).toMatch(/^(?:[0-9A-Z]{7})+$/);
  expect(new Set(found.map(({ path }) => path)).size).toBe(found.length);
  return found.toSorted((one, other) => (one.path < other.path ? -1 : 1)).map(({ id }) => id);
}

describe("paths", () => {
  const isRoot = fc.boolean();
  const moves = fc.array(
    fc.record({
      moved: fc.nat({ max: 5 }),
      target: fc.nat({ max: 5 }),
      position: fc.constantFrom("left" as const, "right" as const, "first-sibling" as const),
    }),
    { minLength: 60, maxLength: 120, size: "max" },
  );

  it("keep siblings in order, however often they are moved beside the same few", async () => {
    await fc.assert(
      fc.asyncProperty(isRoot, moves, async (areRoots, all) => {
        const parent = areRoots ? undefined : await create();
        const others = areRoots ? [] : [parent ?? ""];
        const model: string[] = [];
        for (let number = 0; number < 6; number += 1) model.push(await create(parent));
        const ids = [...model];
        for (const { moved, target, position } of all) {
          const [id, beside] = [ids[moved] ?? "", ids[target] ?? ""];
          if (id === beside) continue;
          await move(id, beside, position);
          model.splice(model.indexOf(id), 1);
          const at = position === "first-sibling" ? 0 : model.indexOf(beside);
          model.splice(at + (position === "right" ? 1 : 0), 0, id);
        }
        expect(await sortedByPath([...others, ...ids])).toEqual([...others, ...model]);
      }),
      { numRuns: 10 },
    );
  });

  it.each([false, true])("leave room for any number beside one document, roots: %s", async (areRoots) => {
    const parent = areRoots ? undefined : await create();
    const [first, last] = [await create(parent), await create(parent)];
    const inside = await create(last);
    const between: string[] = [];
    for (let number = 0; number < 150; number += 1) {
      const id = await create();
      expect(await move(id, first, "right")).toBe(true);
      between.unshift(id);
    }
    expect(await sortedByPath([first, last, inside, ...between])).toEqual([first, ...between, last, inside]);
    // There is still room for as many before them.
    expect((await known(first)).document.order > "1000000").toBe(true);
    expect(toTreePath(await known(inside)).startsWith(toTreePath(await known(last)))).toBe(true);
  });

  it("are unique for concurrent moves to the same position", async () => {
    const parent = await create();
    const [first, last] = [await create(parent), await create(parent)];
    const made = await Promise.all(Array.from({ length: 16 }, () => create()));
    const positions = ["left", "right", "first-sibling", "last-sibling"] as const;
    await Promise.all(made.map((id, at) => move(id, first, positions[at % 4] ?? "left")));
    await Promise.all(made.slice(0, 8).map((id) => move(id, last, "left")));
    const sorted = await sortedByPath([first, last, ...made]);
    expect(sorted).toEqual(await childrenIds(parent));
    expect(sorted.slice(sorted.indexOf(last) - 8, sorted.indexOf(last)).toSorted()).toEqual(
      made.slice(0, 8).toSorted(),
    );
  });

  it("become sorted for documents that were stored with old keys", async () => {
    const parent = await create();
    const made: string[] = [];
    for (let number = 0; number < 30; number += 1) made.push(await create(parent));
    await storeAsBefore(parent, made);
    expect(toTreePath(await known(made[0] ?? ""))).toHaveLength(14);
    const added = await create(parent);
    const [root] = [await create()];
    expect(await move(root, made[3] ?? "", "left")).toBe(true);
    const expected = [...made.slice(0, 3), root, ...made.slice(3), added];
    expect(await sortedByPath(expected)).toEqual(expected);
    expect(await childrenIds(parent)).toEqual(expected);
  });
});

/** Gives siblings the old keys, which were not parts of the path. */
async function storeAsBefore(parent: string, ids: readonly string[]): Promise<void> {
  for (const [at, id] of ids.entries()) {
    const { order: from } = (await known(id)).document;
    const order = `a${at.toString(36)}x`;
    const outcome = await test.deps.tables.write([
      { op: "delete", table: childrenTable, key: { pk: childrenOf(parent), sk: from } },
      { op: "put", table: childrenTable, item: { pk: childrenOf(parent), sk: order, id } },
      {
        op: "update",
        table: documentsTable,
        key: documentKey(id),
        change: { set: { order, segment: `Old${String(at).padStart(4, "0")}` } },
      },
    ]);
    expect(outcome.ok).toBe(true);
  }
}
