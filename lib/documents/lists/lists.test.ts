import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readAll } from "../../events/read-all.ts";
import { type TestDeps, testDeps } from "../../testing/test-deps.ts";
import { LINK_REACHES, type LinkReach } from "../access/links.ts";
import { ROLES, type Role } from "../access/roles.ts";
import { type DocumentAccess, findDocument } from "../authorization/document-access.ts";
import { commitChange } from "../changes/commit.ts";
import { adjustAccessCounts, planInitialAccess } from "../grants/grants.ts";
import { createChild, createDocument } from "../records/create.ts";
import { deleteDocument, restoreDocument } from "../records/delete.ts";
import { setFavorite } from "../records/favorites.ts";
import { leaveDocument } from "../records/leave.ts";
import { readDocument } from "../records/read.ts";
import { relationsTable, type StoredRelation } from "../tables/accesses.ts";
import { documentKey, documentsTable, type StoredDocument } from "../tables/documents.ts";
import type { StoredUser } from "../tables/users.ts";
import { readNode } from "../tree/ancestors.ts";
import { isSameOrDescendant, POSITIONS, type Position, resolveTarget } from "../tree/move-target.ts";
import { planMove, TreeDepthError } from "../tree/tree-writes.ts";
import { planUser } from "../users/users.ts";
import { DocumentLists } from "./list-cache.ts";
import { listAll, listDocuments, listFavorites, listTrash } from "./list-documents.ts";
import { searchDocuments } from "./search.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const PAGE = { offset: 0, limit: 200 };

let test: TestDeps;
let users: readonly StoredUser[];
beforeEach(async () => {
  test = await testDeps();
});
afterEach(() => test.close());

/** Users without any access. */
async function newUsers(): Promise<void> {
  const made = [1, 2].map((number) => planUser(test.deps, { email: `${number}@example.com` }));
  for (const { writes } of made) await test.deps.tables.write(writes);
  users = made.map(({ user }) => user);
}

const commit = (writes: Parameters<typeof test.deps.tables.write>[0]) =>
  commitChange(test.deps, async () => ({ writes, events: [], result: undefined }));

async function give(user: StoredUser, document: string, role: Role): Promise<void> {
  const access = await findDocument(test.deps, user, document).catch(() => undefined);
  if (access === undefined || access.relation?.role !== undefined) return;
  const counted = adjustAccessCounts(
    { id: document, parent: null, position_version: 1 },
    1,
    role === "owner" ? 1 : 0,
  );
  await commit([...planInitialAccess(test.deps, document, user.id, role), counted]);
}

const open = (document: string, link_reach: LinkReach) =>
  commit([
    {
      op: "update",
      table: documentsTable,
      key: documentKey(document),
      change: { set: { link_reach }, add: { revision: 1 } },
    },
  ]);

/** Moves a document if the target is valid; otherwise does nothing. */
const move = (id: string, target: string, position: Position): Promise<void> =>
  commitChange(test.deps, async () => {
    const nothing = { writes: [], events: [], result: undefined };
    const [moved, beside] = [await readNode(test.deps, id), await readNode(test.deps, target)];
    if (moved === undefined || beside === undefined || isSameOrDescendant(beside, id)) return nothing;
    if ([moved, beside].some(({ document, ancestors }) => [...ancestors, document].some(isDeleted)))
      return nothing;
    try {
      const at = new Date(test.clock.now()).toISOString();
      return { ...nothing, writes: planMove(moved, await resolveTarget(test.deps, beside, position), at) };
    } catch (error) {
      if (error instanceof TreeDepthError) return nothing;
      throw error;
    }
  });
const isDeleted = ({ deleted_at }: StoredDocument): boolean => deleted_at !== null;

/** The lists according to the specification, computed from all stored data. */
async function plain(ids: readonly string[], user: StoredUser) {
  const documents = new Map<string, StoredDocument>();
  for (const id of ids) {
    const found = await test.deps.tables.get(documentsTable, documentKey(id));
    if (found !== undefined) documents.set(id, found);
  }
  const rows = new Map<string, StoredRelation>();
  for (const row of await readAll(test.deps, relationsTable, { pk: user.id })) rows.set(row.sk, row);
  const lineOf = (id: string): string[] => {
    const parent = documents.get(id)?.parent ?? null;
    return parent === null ? [id] : [...lineOf(parent), id];
  };
  const isLive = (id: string) => lineOf(id).every((above) => documents.get(above)?.deleted_at === null);
  const isMember = (id: string): boolean => {
    const row = rows.get(id);
    if (row === undefined || !isLive(id)) return false;
    return row.role !== undefined || (row.trace === true && documents.get(id)?.link_reach !== "restricted");
  };
  const live = ids.filter(isLive);
  const below = (id: string, is: (above: string) => boolean) => lineOf(id).slice(0, -1).some(is);
  const among = (fits: (document: StoredDocument) => boolean): string[] => {
    const members = ids.filter((id) => isMember(id) && fits(documents.get(id) as StoredDocument));
    return members.filter((id) => !below(id, (above) => members.includes(above)));
  };
  const all = live.filter((id) => lineOf(id).some(isMember));
  const cutoff = test.clock.now() - test.deps.documents.trashbinCutoffMs;
  const isOwned = (id: string) => lineOf(id).some((above) => rows.get(above)?.role === "owner");
  const deleted = (id: string) => lineOf(id).flatMap((above) => documents.get(above)?.deleted_at ?? []);
  const expected = {
    list: among(() => true),
    mine: among(({ creator }) => creator === user.id),
    liked: among(() => true).filter((id) => rows.get(id)?.favorite === true),
    titled: among(({ title }) => title?.includes("1") === true),
    all,
    favorites: all.filter((id) => rows.get(id)?.favorite === true),
    trash: ids.filter(
      (id) =>
        documents.get(id)?.deleted_at != null &&
        isOwned(id) &&
        deleted(id).every((at) => Date.parse(at) >= cutoff),
    ),
    found: all.filter((id) => documents.get(id)?.title?.includes("1") === true),
  };
  return Object.fromEntries(
    Object.entries(expected).map(([name, of]) => [name, sorted(of)]),
  ) as typeof expected;
}

const sorted = (ids: readonly string[]): string[] => ids.toSorted();
const idsOf = ({ count, accesses }: { count: number; accesses: readonly DocumentAccess[] }): string[] => {
  expect(count).toBe(accesses.length);
  return sorted(accesses.map(({ document }) => document.id));
};

/** Each list from a process with a filled cache. */
async function shown(documentLists: DocumentLists, user: StoredUser) {
  const deps = { ...test.deps, documentLists };
  const searched = await searchDocuments(deps, user, { ...PAGE, q: "1" });
  return {
    list: idsOf(await listDocuments(deps, user, PAGE)),
    mine: idsOf(await listDocuments(deps, user, { ...PAGE, is_creator_me: true })),
    liked: idsOf(await listDocuments(deps, user, { ...PAGE, is_favorite: true })),
    titled: idsOf(await listDocuments(deps, user, { ...PAGE, title: "1" })),
    all: idsOf(await listAll(deps, user, PAGE)),
    favorites: idsOf(await listFavorites(deps, user, PAGE)),
    trash: idsOf(await listTrash(deps, user, PAGE)),
    found: idsOf({ count: searched.count, accesses: searched.found.map(({ access }) => access) }),
  };
}

const which = fc.nat({ max: 30 });
// Most operations are by one of two users.
const who = fc.constantFrom(0, 0, 0, 1);
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ is: fc.constant("create" as const), which, who }) },
  {
    weight: 3,
    arbitrary: fc.record({
      is: fc.constant("move" as const),
      which,
      who,
      to: which,
      position: fc.constantFrom(...POSITIONS),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ is: fc.constant("give" as const), which, who, role: fc.constantFrom(...ROLES) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      is: fc.constant("open" as const),
      which,
      who,
      reach: fc.constantFrom(...LINK_REACHES),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      is: fc.constantFrom("read", "like", "delete", "delete", "restore", "leave", "look", "look", "wait"),
      which,
      who,
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

async function take(one: Step, ids: string[]): Promise<void> {
  const user = users[one.who] as StoredUser;
  const id = ids[one.which % Math.max(1, ids.length)];
  // Earlier changes sometimes count as settled, and sometimes are read again.
  test.clock.advance(1 + one.which * 20);
  if (one.is === "create") {
    const body = { title: `title ${one.which}` };
    const parent = one.which % 5 === 0 || id === undefined ? undefined : await seenBy(user, id);
    const isChild = parent?.abilities.children_create === true;
    const made = isChild
      ? await createChild(test.deps, user, parent, body)
      : await createDocument(test.deps, user, body);
    ids.push(made.document.id);
    return;
  }
  if (id === undefined) return;
  if (one.is === "move") await move(id, ids[one.to % ids.length] ?? "", one.position);
  else if (one.is === "give") await give(user, id, one.role);
  else if (one.is === "open") await open(id, one.reach);
  // Operations without permission have no effect.
  else if (one.is === "read") await readDocument(test.deps, user, id).catch(refused);
  else if (one.is === "like") await setFavorite(test.deps, user, id, one.which % 4 > 0).catch(refused);
  else if (one.is === "delete") await deleteDocument(test.deps, user, id).catch(refused);
  else if (one.is === "restore") await restoreDocument(test.deps, user, id).catch(refused);
  else if (one.is === "leave") await leaveDocument(test.deps, user, id).catch(refused);
  else if (one.is === "wait") test.clock.advance(3 * DAY_MS);
}
const refused = (error: unknown): void => {
  const { code } = error as { code?: string };
  if (!["not_found", "forbidden", "bad_request"].includes(code ?? "")) throw error;
};
const seenBy = (user: StoredUser, id: string) => findDocument(test.deps, user, id).catch(() => undefined);

describe("after any sequence of changes", () => {
  it("lists equal the specification in every process, and their documents can be opened", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 30, maxLength: 60, size: "max" }), async (steps) => {
        await newUsers();
        const ids: string[] = [];
        // One process reads after some of the changes, one caches almost nothing, one starts at the end.
        const [asked, small] = [new DocumentLists(), new DocumentLists({ documents: 2, rows: 2 })];
        for (const one of steps) {
          await take(one, ids);
          if (one.is !== "look") continue;
          const user = users[one.which % users.length] as StoredUser;
          const wanted = await plain(ids, user);
          expect(await shown(asked, user)).toEqual(wanted);
          expect(await shown(small, user)).toEqual(wanted);
        }
        for (const user of users) {
          const wanted = await plain(ids, user);
          for (const lists of [asked, small, new DocumentLists(), test.deps.documentLists])
            expect(await shown(lists, user)).toEqual(wanted);
          await openAll(ids, user, wanted);
        }
      }),
      { numRuns: 25 },
    );
  }, 120_000);
});

/** Every listed document can be opened, and every document with a role or its own link is in the list of all. */
async function openAll(
  ids: readonly string[],
  user: StoredUser,
  { list, all, favorites, trash }: { [name in "list" | "all" | "favorites" | "trash"]: readonly string[] },
): Promise<void> {
  for (const id of new Set([...list, ...all, ...favorites, ...trash]))
    expect((await readDocument(test.deps, user, id)).document.id).toBe(id);
  for (const id of ids) {
    const access = await readDocument(test.deps, user, id).catch(refused);
    if (access === undefined || access.deletedAt !== null) continue;
    const isListed = access.role !== null || access.document.link_reach !== "restricted";
    const page = await listAll(test.deps, user, PAGE);
    if (isListed) expect(page.accesses.map(({ document }) => document.id)).toContain(id);
  }
}
