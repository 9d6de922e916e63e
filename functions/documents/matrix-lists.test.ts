import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import {
  createFixtures,
  type DocumentFixtures,
  type Participant,
} from "#lib/testing/test-document-fixtures.ts";
import { planRecords } from "#lib/testing/test-document-records.ts";
import { readDocument, writeRows } from "#lib/testing/test-documents.ts";
import { call } from "#lib/testing/test-handler-call.ts";
import { type RegisteredRoute, registeredRoutes } from "#lib/testing/test-matrix.ts";
import { SITUATIONS, situationName } from "#lib/testing/test-situations.ts";

let test: TestDeps;
let stage: DocumentFixtures;
let routes: ReadonlyMap<string, RegisteredRoute>;
beforeEach(async () => {
  test = await testDeps();
  stage = await createFixtures(test);
  routes = await registeredRoutes();
});
afterEach(() => test.close());

interface Shown {
  readonly id: string;
  readonly user_role: string | null;
  readonly link_reach: string;
  readonly deleted_at: string | null;
  readonly children?: readonly Shown[];
  readonly parent?: Shown | null;
  readonly highlights?: unknown;
}

function get(path: string, who: Participant, parts: { id?: string; query?: Record<string, string> } = {}) {
  const { handler } = routes.get(`GET ${path}`) ?? {};
  if (handler === undefined) throw new Error(`there is no ${path}`);
  const { id, query } = parts;
  return call(test.deps, handler, {
    token: stage.users.get(who)?.token ?? null,
    ...(id === undefined ? {} : { params: { id } }),
    ...(query === undefined ? {} : { query }),
  });
}
const detail = (id: string, who: Participant) => get("/documents/{id}", who, { id });

describe("a document in lists and trees", () => {
  it("equals its detail response in every situation", async () => {
    const all = ({ children = [], ...shown }: Shown): Shown[] => [shown, ...children.flatMap(all)];
    for (const situation of SITUATIONS) {
      test.clock.advance(300);
      const { caller: asker, state } = situation;
      const id = await stage.createOwn(situation);
      const { parent } = await readDocument(test.deps, id);
      const list = parent === null ? undefined : await get("/documents/{id}/children", asker, { id: parent });
      const tree = await get("/documents/{id}/tree", asker, { id });
      const listed: Shown[] = list?.status === 200 ? list.json.results : [];
      const shown: Shown[] = [...listed, ...(tree.status === 200 ? all(tree.json) : [])];
      const pages = new Map<string, Shown>();
      for (const node of shown) {
        const page = pages.get(node.id) ?? (await detail(node.id, asker)).json;
        pages.set(node.id, page);
        expect({ of: situationName(situation), ...node }).toEqual({ of: situationName(situation), ...page });
      }
      const isListed = list?.status === 200 && state === "live";
      expect([situationName(situation), listed.length]).toEqual([situationName(situation), isListed ? 1 : 0]);
    }
  });
});

const PAGE_SIZE = 7;

/** All items of a list, page by page. */
async function walk(path: string, who: Participant, query: Record<string, string> = {}): Promise<Shown[]> {
  const found: Shown[] = [];
  for (let page = 1; ; page += 1) {
    const at = { ...query, page: String(page), page_size: String(PAGE_SIZE) };
    const { status, json } = await get(path, who, { query: at });
    expect([path, who, status]).toEqual([path, who, 200]);
    found.push(...json.results);
    if (json.next !== null) continue;
    expect([path, who, json.count]).toEqual([path, who, found.length]);
    return found;
  }
}

const LISTS = ["list", "all", "search", "favorites", "trash", "masked"] as const;
type Lists = Readonly<Record<(typeof LISTS)[number], readonly Shown[]>>;

const listsOf = async (who: Participant): Promise<Lists> => ({
  list: await walk("/documents", who),
  all: await walk("/documents/all", who),
  search: (await walk("/documents/search", who, { q: "note" })).map(
    ({ parent: _, highlights: __, ...one }) => one,
  ),
  favorites: await walk("/documents/favorite_list", who),
  trash: await walk("/documents/trashbin", who),
  masked: await walk("/documents/all", who, { is_masked: "true" }),
});

/** The list according to the details of all documents; `seen` are those that the user has opened. */
async function byDetails(
  who: Participant,
  seen: ReadonlySet<string>,
): Promise<{ lists: Lists; opened: string[] }> {
  const pages = new Map<string, Shown>();
  for (const id of stage.documents) {
    const { status, json } = await detail(id, who);
    if (status === 200) pages.set(id, json);
  }
  const documents = new Map(
    await Promise.all(
      [...stage.documents].map(async (id) => [id, await readDocument(test.deps, id)] as const),
    ),
  );
  const live = [...pages.values()].filter(({ deleted_at }) => deleted_at === null);
  const members = live.filter(
    ({ id, user_role, link_reach }) => user_role !== null || (seen.has(id) && link_reach !== "restricted"),
  );
  const isAmong = (some: readonly Shown[], id: string | null | undefined): boolean =>
    some.some((one) => one.id === id);
  const parentOf = (id: string) => documents.get(id)?.parent;
  const all = live.filter(({ id }) => isAmong(members, id) || isAmong(members, parentOf(id)));
  const list = all.filter(({ id }) => !isAmong(all, parentOf(id)));
  const trash = [...pages.values()].filter(
    ({ id, user_role }) => user_role === "owner" && documents.get(id)?.deleted_at !== null,
  );
  const masked = who === "link-only" ? all : [];
  return { lists: { list, all, search: all, favorites: all, trash, masked }, opened: [...pages.keys()] };
}

const byId = (shown: readonly Shown[]): Shown[] =>
  shown.toSorted(({ id: one }, { id: other }) => (one < other ? -1 : 1));

describe("every list", () => {
  it("shows exactly the readable documents, each once, as their details do", async () => {
    const at = new Date(test.clock.now()).toISOString();
    for (const situation of SITUATIONS) await stage.getShared(situation);
    for (const id of stage.documents) await writeRows(test.deps, planRecords(id, at, stage.users, ["marks"]));
    expect(stage.documents.size).toBe(1 + 9 * (3 + 4 * 2 * 2));
    for (const who of stage.users.keys()) {
      // Users with the link have opened the lowest document; comparing all details opens all of them.
      let seen = new Set<string>();
      if (who === "link-only") for (const situation of SITUATIONS) seen.add(await stage.getShared(situation));
      for (let round = 1; round <= 2; round += 1) {
        test.clock.advance(300);
        const shown = await listsOf(who);
        const { lists, opened } = await byDetails(who, seen);
        for (const name of LISTS)
          expect({ who, round, name, shown: byId(shown[name]) }).toEqual({
            who,
            round,
            name,
            shown: byId(lists[name]),
          });
        // None of the compared lists is empty.
        if (who === "owner") for (const name of LISTS.slice(0, 5)) expect(lists[name]).not.toEqual([]);
        if (who === "none") expect(lists.all.length > 0).toBe(round === 2);
        seen = new Set([...seen, ...opened]);
      }
    }
  });

  it("is empty for anonymous callers, except favorites, which require authentication", async () => {
    for (const path of ["/documents", "/documents/all", "/documents/trashbin"])
      expect(await walk(path, "anonymous")).toEqual([]);
    expect(await walk("/documents/search", "anonymous", { q: "" })).toEqual([]);
    expect((await get("/documents/favorite_list", "anonymous")).status).toBe(401);
  });
});
