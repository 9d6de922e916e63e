import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type TestDeps, testDeps } from "../../testing/test-deps.ts";
import { readDocument } from "../../testing/test-documents.ts";
import { type ListFilter, openAllDocuments, type Page } from "../../testing/test-expected-lists.ts";
import {
  arbitraryOperation,
  createScenario,
  type Operation,
  type SharingScenario,
  type User,
} from "../../testing/test-sharing-scenario.ts";
import { ORDERINGS } from "./filter-and-sort.ts";

let test: TestDeps;
beforeEach(async () => {
  test = await testDeps();
});
afterEach(() => test.close());

const deed = arbitraryOperation({
  create: 3,
  child: 8,
  move: 4,
  delete: 3,
  restore: 2,
  give: 4,
  take: 1,
  link: 4,
  open: 6,
  favorite: 5,
  unfavorite: 1,
  mask: 5,
  unmask: 1,
  leave: 2,
  rename: 2,
  duplicate: 1,
});
const BEGUN: readonly Operation[] = [
  { is: "create", who: "ann", title: "one" },
  { is: "give", who: "ann", which: 0, whom: "ben", role: "owner" },
  { is: "child", who: "ben", which: 0, title: "Two" },
  { is: "create", who: "ben", title: "three" },
  { is: "link", who: "ben", which: 2, reach: "public", role: "editor" },
  { is: "open", who: "cat", which: 2 },
];
const asked = fc.record({
  size: fc.integer({ min: 1, max: 6 }),
  ordering: fc.constantFrom(...ORDERINGS),
  narrowed: fc.record(
    {
      title: fc.constantFrom("o", "two", "e"),
      is_creator_me: fc.boolean(),
      is_favorite: fc.boolean(),
      is_masked: fc.boolean(),
    },
    { requiredKeys: [] },
  ),
  within: fc.nat(),
});

/** All pages of a list. */
async function walk(
  world: SharingScenario,
  path: string,
  who: User,
  size: number,
  query: Readonly<Record<string, unknown>> = {},
): Promise<Page[]> {
  const found: Page[] = [];
  for (let page = 1; ; page += 1) {
    const at = { ...query, page, page_size: size };
    const parts = Object.entries(at).map(([name, value]) => [name, String(value)]);
    const { status, json } = await world.request(`GET ${path}`, who, { query: Object.fromEntries(parts) });
    expect([path, at, status]).toEqual([path, at, 200]);
    expect(json.results.length).toBe(Math.min(size, json.count - found.length));
    found.push(...json.results);
    if (json.next !== null) continue;
    expect(new Set(found.map(({ id }) => id)).size).toBe(json.count);
    return found;
  }
}

const idsOf = (pages: readonly { readonly id: string }[]): string[] => pages.map(({ id }) => id).toSorted();

/** Checks the requested order; ties may be in any order. */
function expectOrdered(shown: readonly Page[], ordering: string): void {
  const field = ordering.replace("-", "") as "title" | "created_at" | "updated_at";
  const values = shown.map((page) => page[field].toLowerCase());
  const sorted = values.toSorted();
  expect([ordering, values]).toEqual([ordering, ordering.startsWith("-") ? sorted.toReversed() : sorted]);
}

type Asked = typeof asked extends fc.Arbitrary<infer One> ? One : never;

/** Compares every list of a user with the detail responses of all documents. */
async function compare(
  world: SharingScenario,
  who: User,
  { size, ordering, narrowed, within }: Asked,
): Promise<void> {
  const given = narrowed as ListFilter;
  const inside = world.documentAt(within) ?? "";
  const lists = {
    list: await walk(world, "/documents", who, size, { ordering }),
    narrowed: await walk(world, "/documents", who, size, given as Record<string, unknown>),
    all: await walk(world, "/documents/all", who, size, { ordering }),
    allNarrowed: await walk(world, "/documents/all", who, size, given as Record<string, unknown>),
    favorites: await walk(world, "/documents/favorite_list", who, size),
    trash: await walk(world, "/documents/trashbin", who, size),
    search: await walk(world, "/documents/search", who, size, { q: " O ", ordering }),
  };
  const query = { q: "o", document: inside, page_size: "200" };
  const searched = await world.request("GET /documents/search", who, { query });

  const library = await openAllDocuments(test, world, who);
  const wanted = {
    list: library.list(),
    narrowed: library.list(given),
    all: library.all(),
    allNarrowed: library.all(given),
    favorites: library.favorites(),
    trash: library.trash(),
    search: library.all({ title: "o" }),
  };
  for (const [name, shown] of Object.entries(lists)) {
    const right = wanted[name as keyof typeof wanted];
    expect({ who, name, ids: idsOf(shown) }).toEqual({ who, name, ids: right.toSorted() });
    for (const { parent, highlights: _, ...page } of shown as (Page & { parent?: Page | null })[]) {
      expect(page).toEqual(library.pages.get(page.id));
      if (name !== "search") continue;
      expect(parent?.id ?? null).toBe(library.highestAncestor(page.id));
      if (parent != null) expect(parent).toEqual(library.pages.get(parent.id));
    }
  }
  expectOrdered(lists.list, ordering);
  expectOrdered(lists.all, ordering);
  expectOrdered(lists.search, ordering);
  expectOrdered(lists.favorites, "-updated_at");
  const times = await Promise.all(
    lists.trash.map(async ({ id }) => (await readDocument(test.deps, id)).deleted_at),
  );
  expect(times).toEqual(times.toSorted().toReversed());
  const scope = library.pages.get(inside);
  if (scope?.deleted_at === null)
    expect(idsOf(searched.json.results)).toEqual(library.search(inside, "o").toSorted());
  else expect([403, 404]).toContain(searched.status);
}

describe("lists over HTTP", () => {
  it("equal the details of all documents, and paging visits each document once", async () => {
    const deeds = fc.array(deed, { minLength: 25, maxLength: 60, size: "max" });
    await fc.assert(
      fc.asyncProperty(deeds, fc.array(asked, { minLength: 3, maxLength: 3 }), async (all, wanted) => {
        const world = await createScenario(test);
        for (const one of [...BEGUN, ...all]) {
          test.clock.advance(400);
          const status = (await world.perform(one))?.status ?? 200;
          expect([one, status < 500]).toEqual([one, true]);
        }
        for (const [index, who] of (["ann", "ben", "cat"] as const).entries())
          if (wanted[index] !== undefined) await compare(world, who, wanted[index]);
      }),
      { numRuns: 25 },
    );
  });
});
