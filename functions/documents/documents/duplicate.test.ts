import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { duplicateDocument, SUBTREE_MAX } from "#lib/documents/records/duplicate.ts";

import { childrenOf, childrenTable, documentKey, documentsTable } from "#lib/documents/tables/documents.ts";
import { getUser, OWNER_ID } from "#lib/documents/users/users.ts";
import { isCrash, TEST_TOKEN, type TestDeps, testClock, testDeps } from "#lib/testing/test-deps.ts";
import {
  createUser,
  grantRole,
  grantTeam,
  listChildren,
  listRoles,
  readDocument,
  setLink,
  type TestUser,
} from "#lib/testing/test-documents.ts";
import { call } from "#lib/testing/test-route-call.ts";
import { readLog } from "#lib/testing/test-workflows.ts";
import { route as create } from "./create.ts";
import { route as createChild } from "./create-child.ts";
import { route as remove } from "./delete.ts";
import { route as duplicate } from "./duplicate.ts";
import { route as get } from "./get.ts";
import { route as getTree } from "./tree.ts";

let test: TestDeps;
let ann: TestUser;
beforeEach(async () => {
  test = await testDeps();
  ann = await createUser(test.deps, "ann");
});
afterEach(() => test.close());

type Token = string | null;
const root = async (title: string | null, deps = test.deps): Promise<string> =>
  (await call(deps, create, { body: { title } })).body.id;
const child = async (id: string, title: string, deps = test.deps): Promise<string> =>
  (await call(deps, createChild, { params: { id }, body: { title } })).body.id;
const copy = (id: string, body: object = {}, token: Token = TEST_TOKEN, language?: string) =>
  call(test.deps, duplicate, {
    params: { id },
    body,
    token,
    headers: language === undefined ? {} : { "accept-language": language },
  });
const read = async (id: string, token: Token = TEST_TOKEN) =>
  (await call(test.deps, get, { params: { id }, token })).body;
const titles = async (parent: string): Promise<string[]> =>
  Promise.all((await listChildren(test.deps, parent)).map(async (id) => (await read(id)).title));

describe("a copy", () => {
  it("of a root is a root of the caller, without accesses of others", async () => {
    const original = await root("Plan");
    await grantRole(test.deps, original, ann.id, "administrator");
    await setLink(test.deps, original, "public", "editor");
    const { status, body } = await copy(original, {}, ann.token);
    expect([status, Object.keys(body)]).toEqual([201, ["id"]]);
    expect(await read(body.id, ann.token)).toMatchObject({
      title: "Copy of Plan",
      creator: ann.id,
      depth: 1,
      user_role: "owner",
      deleted_at: null,
      link_reach: "restricted",
      link_role: "reader",
      nb_accesses_direct: 1,
      numchild: 0,
    });
    expect(await listRoles(test.deps, body.id)).toEqual([`${ann.id} owner`]);
    expect(await readDocument(test.deps, body.id)).toMatchObject({ owners: 1, duplicated_from: original });
  });

  it("has the same link and accesses if requested and if the caller manages them", async () => {
    const original = await root("Plan");
    const bea = await createUser(test.deps, "bea");
    await grantRole(test.deps, original, ann.id, "administrator");
    await grantRole(test.deps, original, bea.id, "reader");
    await grantTeam(test.deps, original, "writers", "editor");
    await setLink(test.deps, original, "authenticated", "commenter");
    const { body: managed } = await copy(original, { with_accesses: true }, ann.token);
    expect(await listRoles(test.deps, managed.id)).toEqual(
      [`${OWNER_ID} owner`, `${ann.id} owner`, `${bea.id} reader`, "writers editor"].toSorted(),
    );
    expect(await readDocument(test.deps, managed.id)).toMatchObject({ accesses: 4, owners: 2 });
    const shared = { link_reach: "authenticated", link_role: "commenter" };
    expect(await read(managed.id, bea.token)).toMatchObject({ ...shared, user_role: "reader" });
    const { body: readers } = await copy(original, { with_accesses: true }, bea.token);
    expect(await listRoles(test.deps, readers.id)).toEqual([`${bea.id} owner`]);
    expect(await read(readers.id, bea.token)).toMatchObject({ ...shared, nb_accesses_direct: 1 });
  });

  it("of a child is the last sibling for editors, and a root for readers", async () => {
    const top = await root("top");
    const original = await child(top, "a");
    await child(top, "b");
    await grantRole(test.deps, top, ann.id, "editor");
    const { body: beside } = await copy(original, {}, ann.token);
    expect(await titles(top)).toEqual(["a", "b", "Copy of a"]);
    expect(await read(beside.id, ann.token)).toMatchObject({
      depth: 2,
      user_role: "editor",
      nb_accesses_direct: 0,
      nb_accesses_ancestors: 2,
    });
    expect((await read(top)).numchild).toBe(3);
    const bea = await createUser(test.deps, "bea");
    await grantRole(test.deps, top, bea.id, "commenter");
    await setLink(test.deps, top, "public", "editor");
    const { body: apart } = await copy(original, {}, bea.token);
    expect(await read(apart.id, bea.token)).toMatchObject({ depth: 1, user_role: "owner" });
    expect((await read(top)).numchild).toBe(3);
  });

  it("includes descendants if requested, in order, without deleted ones", async () => {
    const top = await root("top");
    const [a, b] = [await child(top, "a"), await child(top, "b")];
    const [c] = [await child(a, "c"), await child(a, "d")];
    const gone = await child(a, "gone");
    await child(gone, "below");
    await call(test.deps, remove, { params: { id: gone } });
    await grantRole(test.deps, c, ann.id, "editor");
    await setLink(test.deps, b, "public", "reader");
    const { body } = await copy(top, { with_descendants: true, with_accesses: true });
    const [one = "", other = ""] = await listChildren(test.deps, body.id);
    expect([await titles(body.id), await titles(one), await titles(other)]).toEqual([
      ["Copy of a", "Copy of b"],
      ["Copy of c", "Copy of d"],
      [],
    ]);
    const [inOne = ""] = await listChildren(test.deps, one);
    const { path } = await read(body.id);
    expect(await read(inOne, ann.token)).toMatchObject({
      user_role: "editor",
      depth: 3,
      nb_accesses_direct: 1,
      path: expect.stringContaining(path),
    });
    expect(await read(other)).toMatchObject({ link_reach: "public", deleted_at: null });
    expect(await readDocument(test.deps, body.id)).toMatchObject({ height: 2, numchild: 2 });
    expect((await readDocument(test.deps, inOne)).chain).toEqual([body.id, one]);
    // A copy is complete: it can be copied again.
    const { body: again } = await copy(one, { with_descendants: true });
    expect(await titles(again.id)).toEqual(["Copy of Copy of c", "Copy of Copy of d"]);
    expect((await readDocument(test.deps, (await listChildren(test.deps, again.id))[0] ?? "")).chain).toEqual(
      [body.id, again.id],
    );
  });

  it.each([
    [undefined, "Copy of Plan"],
    ["fr-FR,fr;q=0.9,en;q=0.8", "Copie de Plan"],
    ["xx, en;q=0.5, de;q=0.7", "Kopie von Plan"],
    ["es", "Copia de Plan"],
    ["nl-NL;q=0.1", "Kopie van Plan"],
    ["fr;q=0, *", "Copy of Plan"],
  ])("is called so in the language of the request: %s", async (language, title) => {
    const { body } = await copy(await root("Plan"), {}, TEST_TOKEN, language);
    expect((await read(body.id)).title).toBe(title);
  });

  it("has a title within the maximum length, and none if the original has none", async () => {
    const { body: long } = await copy(await root("t".repeat(255)));
    expect((await read(long.id)).title).toBe(`Copy of ${"t".repeat(247)}`);
    const { body: none } = await copy(await root(null));
    expect((await read(none.id)).title).toBe(null);
  });

  it("requires the right to read and authentication", async () => {
    const original = await root("Plan");
    expect([(await copy(original, {}, null)).status, (await copy(original, {}, ann.token)).status]).toEqual([
      401, 403,
    ]);
    await setLink(test.deps, original, "public", "reader");
    expect([(await copy(original, {}, null)).status, (await copy(original, {}, ann.token)).status]).toEqual([
      401, 201,
    ]);
    expect((await copy(original, { with_accesses: "maybe" })).body).toEqual({
      with_accesses: ["Must be a valid boolean."],
    });
    await call(test.deps, remove, { params: { id: original } });
    expect([(await copy(original)).status, (await copy(original, {}, ann.token)).status]).toEqual([403, 404]);
  });

  it("emits one event with the number of documents", async () => {
    const top = await root("top");
    await child(top, "a");
    const { body } = await copy(top, { with_descendants: true });
    const { records } = await readLog(test.deps);
    const told = records.map(({ topic, data }) => ({ topic, ...JSON.parse(data) }));
    expect(told.filter(({ document_id }) => document_id === body.id)).toEqual([
      expect.objectContaining({ topic: "documents.created", duplicated_from: top, documents: 2 }),
    ]);
    expect(told).toHaveLength(3);
  });

  it("beyond the maximum number of documents is rejected and creates nothing", async () => {
    const top = await root("top");
    const last = await readDocument(test.deps, await child(top, "last"));
    const made = Array.from({ length: SUBTREE_MAX }, (_, n) => ({
      id: test.deps.ids.random(),
      order: `Z${String(n).padStart(5, "0")}`,
    }));
    for (let at = 0; at < made.length; at += 50)
      await test.deps.tables.write(
        made.slice(at, at + 50).flatMap(({ id, order }) => [
          { op: "put", table: documentsTable, item: { ...last, ...documentKey(id), id, order } },
          { op: "put", table: childrenTable, item: { pk: childrenOf(top), sk: order, id } },
        ]),
      );
    await test.deps.tables.update(documentsTable, documentKey(top), { add: { numchild: SUBTREE_MAX } });
    expect(await copy(top, { with_descendants: true })).toEqual({
      status: 400,
      body: { with_descendants: ["A copy is limited to 1000 documents."] },
    });
    await call(test.deps, remove, { params: { id: made[0]?.id ?? "" } });
    await call(test.deps, remove, { params: { id: last.id } });
    const { status, body } = await copy(top, { with_descendants: true });
    expect([status, (await listChildren(test.deps, body.id)).length]).toEqual([201, SUBTREE_MAX - 1]);
  });
});

describe("an interrupted copy", () => {
  it("is complete or missing, wherever the process dies", async () => {
    const outcomes = new Set<string>();
    for (let crashAtCommit = 1; crashAtCommit <= 12; crashAtCommit += 1) {
      const folder = await mkdtemp(join(tmpdir(), "weft-duplicate-"));
      const clock = testClock();
      const before = await testDeps({ folder, clock });
      const top = await root("top", before.deps);
      const original = await child(top, "a", before.deps);
      for (let n = 0; n < 70; n += 1) await child(original, `${n}`, before.deps);
      await grantRole(before.deps, original, (await createUser(before.deps, "ann")).id, "reader");
      const user = await getUser(before.deps, OWNER_ID);
      await before.close();

      const dying = await testDeps({ folder, clock, hostile: { seed: crashAtCommit, crashAtCommit } });
      const copies: string[] = [];
      const options = { withAccesses: true, withDescendants: true, language: "en" };
      const made = await duplicateDocument(dying.deps, user, original, {
        ...options,
        copyContent: async (_, to) => void copies.push(to.id),
      }).catch((error: unknown) => {
        if (!isCrash(error)) throw error;
      });
      await dying.close();

      const after = await testDeps({ folder, clock });
      const seen = await Promise.all(
        copies.map(async (id) => (await call(after.deps, get, { params: { id } })).status),
      );
      const { body } = await call(after.deps, getTree, { params: { id: top } });
      const isThere = body.numchild === 2;
      expect(body.children).toHaveLength(isThere ? 2 : 1);
      expect(new Set(seen)).toEqual(new Set(seen.length === 0 ? [] : [isThere ? 200 : 404]));
      if (isThere) {
        expect(copies).toHaveLength(71);
        expect(body.children[1]).toMatchObject({ numchild: 70, nb_accesses_direct: 1 });
        expect(await listChildren(after.deps, body.children[1].id)).toHaveLength(70);
        expect(await listRoles(after.deps, body.children[1].id)).toEqual([expect.stringContaining("reader")]);
      }
      if (made !== undefined) expect(isThere).toBe(true);
      outcomes.add(isThere ? "whole" : "nothing");
      await after.close();
      await rm(folder, { recursive: true, force: true });
    }
    expect([...outcomes].toSorted()).toEqual(["nothing", "whole"]);
  });
});
