import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type TestDeps, testDeps } from "../../testing/test-deps.ts";
import { listChildren } from "../../testing/test-documents.ts";
import {
  arbitraryOperation,
  createScenario,
  type Operation,
  type SharingScenario,
  VIEWERS,
} from "../../testing/test-sharing-scenario.ts";
import { TreeModel } from "../../testing/test-tree-model.ts";
import { ROLES } from "../access/roles.ts";

let test: TestDeps;
beforeEach(async () => {
  test = await testDeps();
});
afterEach(() => test.close());

const deed = arbitraryOperation({
  create: 1,
  child: 6,
  move: 9,
  delete: 2,
  restore: 3,
  give: 3,
  take: 2,
  link: 2,
});
/** The initial tree, which several users share. */
const BEGUN: readonly Operation[] = [
  { is: "create", who: "ann", title: "one" },
  { is: "give", who: "ann", which: 0, whom: "ben", role: "administrator" },
  { is: "give", who: "ann", which: 0, whom: "cat", role: "editor" },
  ...[0, 0, 1, 1].map((which): Operation => ({ is: "child", who: "ann", which, title: "Two" })),
  { is: "give", who: "ben", which: 1, whom: "cat", role: "administrator" },
  { is: "create", who: "ben", title: "three" },
];
const deeds = fc
  .array(deed, { minLength: 20, maxLength: 45, size: "max" })
  .map((more): readonly Operation[] => [...BEGUN, ...more]);

/** The status that the model expects for an operation. */
function statusOf(model: TreeModel, id: string, target: string, one: Operation): number {
  if (one.is === "child") return model.childStatus(id, one);
  if (one.is === "delete") return model.deleteStatus(id, one);
  if (one.is === "restore") return model.restoreStatus(id, one);
  if (one.is === "give") return model.giveStatus(id, one);
  if (one.is === "take") return model.takeStatus(id, one);
  if (one.is === "link") return model.linkStatus(id, one);
  if (one.is === "move") return model.moveStatus(id, target, one);
  return 201;
}

/** Applies an operation to the model. */
async function follow(model: TreeModel, id: string, target: string, one: Operation): Promise<void> {
  const node = model.node(id);
  if (one.is === "delete") model.delete(id);
  else if (one.is === "move") model.move(id, target, one.position);
  else if (one.is === "give") node.roles.set(one.whom, one.role);
  else if (one.is === "take") node.roles.delete(one.whom);
  else if (one.is === "link") {
    // A restricted link keeps its previous role.
    if (one.reach !== "restricted") node.linkRole = one.role;
    node.reach = one.reach;
  } else if (one.is === "restore")
    model.restore(id, node.parent === null ? [] : await listChildren(test.deps, node.parent));
}

/** Applies all operations to the service and the model, and compares the statuses. */
async function play(world: SharingScenario, model: TreeModel, all: readonly Operation[]): Promise<void> {
  for (const one of all) {
    test.clock.advance(1000);
    const id = one.is === "create" ? "" : world.documentAt(one.which);
    if (id === undefined) continue;
    const target = one.is === "move" ? (world.documentAt(one.to) ?? "") : "";
    const status = one.is === "create" ? 201 : statusOf(model, id, target, one);
    const answer = await world.perform(one);
    expect({ ...one, status: answer?.status, text: answer?.text.slice(0, 0) }).toEqual({
      ...one,
      status,
      text: "",
    });
    if (status >= 300) continue;
    if (one.is === "create") model.create(answer?.json.id, one.who);
    else if (one.is === "child") model.child(answer?.json.id, id, one.who);
    else await follow(model, id, target, one);
  }
}

interface Page {
  readonly id: string;
  readonly abilities: Readonly<Record<string, boolean>>;
  readonly [name: string]: unknown;
}

/** Every document as every user sees it; undefined if they may not. */
async function pagesOf(world: SharingScenario): Promise<Map<string, Page | number>> {
  const pages = new Map<string, Page | number>();
  for (const who of VIEWERS)
    for (const id of world.ids) {
      const { status, json } = await world.request("GET /documents/{id}", who, { id });
      pages.set(`${who} ${id}`, status === 200 ? json : status);
    }
  return pages;
}

/** Compares each document's position and permissions with the model. */
async function compare(world: SharingScenario, model: TreeModel): Promise<void> {
  const pages = await pagesOf(world);
  for (const id of world.ids)
    for (const who of VIEWERS) {
      const page = pages.get(`${who} ${id}`);
      const rank = model.rank(id, who);
      const ownRank = model.roleRank(id, who);
      if (!model.isLive(id) && ownRank < 5) {
        expect(page).toBe(404);
        continue;
      }
      if (rank === 0) {
        expect(page).toBe(who === "nobody" ? 401 : 403);
        continue;
      }
      const isLive = model.isLive(id);
      const { abilities, depth, numchild, user_role } = page as Page;
      expect({ ...at(who, id), depth, numchild, user_role, ...some(abilities) }).toEqual({
        ...at(who, id),
        depth: model.pathTo(id).length,
        numchild: model.node(id).children.length,
        user_role: ownRank === 0 ? null : ROLES[ownRank - 1],
        retrieve: true,
        comment: isLive && rank >= 2,
        update: isLive && rank >= 3,
        move: isLive && ownRank >= 4,
        invite_owner: isLive && ownRank === 5,
        restore: ownRank === 5,
      });
    }
  for (const id of world.ids.filter((one) => model.isLive(one))) {
    const owner = VIEWERS.find((who) => model.roleRank(id, who) === 5);
    const query = { page_size: "200" };
    const { json } = await world.request("GET /documents/{id}/children", owner ?? "ann", { id, query });
    // Deleted children disappear and return with their parent.
    if (owner !== undefined) expect(json.results.map((one: Page) => one.id)).toEqual(model.node(id).children);
  }
}
const at = (who: string, id: string) => ({ who, id });
const some = ({ retrieve, comment, update, move, invite_owner, restore }: Page["abilities"]) => ({
  retrieve,
  comment,
  update,
  move,
  invite_owner,
  restore,
});

describe("any sequence of changes by several users over HTTP", () => {
  it("has the expected responses, and leaves each document in its position with the permissions of its ancestors", async () => {
    await fc.assert(
      fc.asyncProperty(deeds, async (all) => {
        const [world, model] = [await createScenario(test), new TreeModel()];
        await play(world, model, all);
        await compare(world, model);
      }),
      { numRuns: 30 },
    );
  });

  it("loses nothing if a deletion is undone", async () => {
    await fc.assert(
      fc.asyncProperty(deeds, fc.array(fc.nat(), { minLength: 4, maxLength: 4 }), async (all, chosen) => {
        const [world, model] = [await createScenario(test), new TreeModel()];
        await play(world, model, all);
        // Reading a document records an access; after this, reads change nothing.
        await pagesOf(world);
        const before = await pagesOf(world);
        const orders = await ordersOf(world);
        const deleted = new Set<string>();
        for (const number of chosen) {
          const id = world.documentAt(number);
          const owner = id === undefined ? undefined : ownerOf(model, id);
          if (id === undefined || owner === undefined || !model.isLive(id)) continue;
          expect((await world.request("DELETE /documents/{id}", owner, { id })).status).toBe(204);
          test.clock.advance(1000);
          for (const who of VIEWERS) {
            const status = model.roleRank(id, who) === 5 ? 200 : 404;
            expect((await world.request("GET /documents/{id}", who, { id })).status).toBe(status);
          }
          expect((await world.request("POST /documents/{id}/restore", owner, { id })).status).toBe(200);
          deleted.add(id);
          expect(withoutTimes(await pagesOf(world), deleted)).toEqual(withoutTimes(before, deleted));
          expect(await ordersOf(world)).toEqual(orders);
        }
      }),
      { numRuns: 15 },
    );
  });
});

/** A deletion changes the deleted documents and nothing else. */
const withoutTimes = (pages: ReadonlyMap<string, Page | number>, deleted: ReadonlySet<string>) =>
  [...pages].map(([name, page]) =>
    typeof page === "number" || !deleted.has(page.id) ? [name, page] : [name, { ...page, updated_at: "" }],
  );
const ownerOf = (model: TreeModel, id: string) =>
  (["ann", "ben", "cat"] as const).find((who) => model.roleRank(id, who) === 5);
const ordersOf = (world: SharingScenario): Promise<string[][]> =>
  Promise.all(world.ids.map((id) => listChildren(test.deps, id)));
