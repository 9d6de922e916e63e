import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { accessesTable, accessId, accessKey } from "#lib/documents/access/table.ts";
import { documentKey, documentsTable } from "#lib/documents/tree/table.ts";
import { POSITIONS } from "#lib/documents/tree/target.ts";
import { OWNER_ID } from "#lib/documents/users/users.ts";
import { call } from "#lib/testing/test-calls.ts";
import { TEST_TOKEN, type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import {
  childrenIds,
  grant,
  grantTeam,
  type Person,
  person,
  rolesOn,
  setLink,
  stored,
  write,
} from "#lib/testing/test-documents.ts";
import { readLog } from "#lib/testing/test-workflows.ts";
import { route as create } from "./create.ts";
import { route as createChild } from "./create-child.ts";
import { route as remove } from "./delete.ts";
import { route as get } from "./get.ts";
import { route as moveRoute } from "./move.ts";

const NOWHERE = "11111111-1111-4111-8111-111111111111";

let test: TestDeps;
let ann: Person;
beforeEach(async () => {
  test = await testDeps();
  ann = await person(test.deps, "ann");
});
afterEach(() => test.close());

type Token = string | null;
const root = async (token: Token = TEST_TOKEN): Promise<string> =>
  (await call(test.deps, create, { body: {}, token })).body.id;
const child = async (id: string, token: Token = TEST_TOKEN): Promise<string> =>
  (await call(test.deps, createChild, { params: { id }, body: {}, token })).body.id;
const move = (id: string, target: unknown, position?: unknown, token: Token = TEST_TOKEN) =>
  call(test.deps, moveRoute, {
    ...{ params: { id }, token },
    body: { target_document_id: target, ...(position === undefined ? {} : { position }) },
  });
const statusOf = async (id: string, token: Token) =>
  (await call(test.deps, get, { params: { id }, token })).status;
const drop = (id: string) => call(test.deps, remove, { params: { id } });
const said = (message: string) => ({ status: 400, body: { target_document_id: message } });
const DONE = { status: 200, body: { message: "Document moved successfully." } };

describe("a move", () => {
  it("puts a document where its position says, the last child where it says none", async () => {
    const top = await root();
    const [a, b, c] = [await child(top), await child(top), await child(top)];
    const moved = await child(b);
    const orderNow = async () =>
      (await childrenIds(test.deps, top)).map((id) => ({ [a]: "a", [b]: "b", [c]: "c" })[id] ?? "x").join("");
    expect(await move(moved, top)).toEqual(DONE);
    expect(await orderNow()).toBe("abcx");
    for (const [position, target, order] of [
      ["first-child", top, "xabc"],
      ["right", b, "abxc"],
      ["left", a, "xabc"],
      ["last-sibling", a, "abcx"],
      ["first-sibling", c, "xabc"],
      ["right", c, "abcx"],
      ["left", c, "abxc"],
      ["last-child", top, "abcx"],
    ] as const) {
      expect(await move(moved, target, position)).toEqual(DONE);
      expect([position, await orderNow()]).toEqual([position, order]);
    }
    expect((await stored(test.deps, top)).numchild).toBe(4);
    expect((await stored(test.deps, b)).numchild).toBe(0);
  });

  it.each(POSITIONS)("onto itself or into itself is refused: %s", async (position) => {
    const top = await root();
    const moved = await child(top);
    const leaf = await child(await child(moved));
    const own = said("Cannot move a document to its own descendant.");
    for (const target of [moved, leaf]) expect(await move(moved, target, position)).toEqual(own);
    expect(await move(top, top, position)).toEqual(own);
    expect(await move(top, leaf, position)).toEqual(own);
    expect(await childrenIds(test.deps, top)).toEqual([moved]);
  });

  it("says by field what is wrong with its body, once the caller may move the document", async () => {
    const top = await root();
    const uuid = { target_document_id: ["Must be a valid UUID."] };
    expect(await move(top, "no")).toEqual({ status: 400, body: uuid });
    expect(await move(top, 7)).toEqual({ status: 400, body: uuid });
    expect((await move(top, null)).body).toEqual({ target_document_id: ["This field may not be null."] });
    expect((await move(top, undefined)).body).toEqual({ target_document_id: ["This field is required."] });
    expect((await move(top, "no", "x")).body).toEqual({
      ...uuid,
      position: ['"x" is not a valid choice.'],
    });
    expect((await move(top, "no", "x", ann.token)).status).toBe(403);
    expect((await move(top, "no", "x", null)).status).toBe(401);
    expect((await move(NOWHERE, "no")).status).toBe(404);
  });

  it("needs the right to move what is moved, and what it comes into; the roots are open to all", async () => {
    const [mine, theirs] = [await root(ann.token), await root()];
    const inTheirs = await child(theirs);
    expect(await move(mine, theirs, "first-child", ann.token)).toEqual(
      said("You do not have permission to move documents as a child to this target document."),
    );
    expect(await move(mine, inTheirs, "left", ann.token)).toEqual(
      said("You do not have permission to move documents as a sibling of this target document."),
    );
    expect(await move(mine, theirs, "right", ann.token)).toEqual(DONE);
    expect((await move(theirs, mine, "last-child", ann.token)).status).toBe(403);
    await setLink(test.deps, theirs, "public", "editor");
    expect((await move(theirs, mine, "last-child", ann.token)).status).toBe(403);
    expect((await move(theirs, mine, "last-child", null)).status).toBe(401);
    await grant(test.deps, theirs, ann.id, "administrator");
    expect(await move(inTheirs, mine, "last-child", ann.token)).toEqual(DONE);
  });

  it("goes to no place that is not there, and takes nothing out of the trash", async () => {
    const [top, gone] = [await root(), await root()];
    const below = await child(gone);
    await drop(gone);
    for (const target of [NOWHERE, gone, below])
      expect(await move(top, target)).toEqual(said("Target parent document does not exist."));
    expect((await move(gone, top)).status).toBe(403);
    expect((await move(below, top, "left", ann.token)).status).toBe(404);
  });

  it("is told of, with where it comes from", async () => {
    const top = await root();
    const [a, b] = [await child(top), await child(top)];
    await move(a, b);
    const { records } = await readLog(test.deps);
    const [last] = records;
    expect(last).toMatchObject({ topic: "documents.moved", source: "documents" });
    expect(JSON.parse(last?.data ?? "")).toMatchObject({
      ...{ document_id: a, parent_id: b, previous_parent_id: top, user_id: OWNER_ID },
    });
  });

  it("makes no tree deeper than it may be", async () => {
    let deep = await root();
    for (let depth = 2; depth < 36; depth += 1) deep = await child(deep);
    const top = await root();
    await child(top);
    expect(await move(top, deep)).toEqual({
      status: 400,
      body: { non_field_errors: ["There are as many levels as there may be."] },
    });
  });
});

describe("rights of a document that is moved", () => {
  it("stay within its tree", async () => {
    const top = await root();
    const [a, b] = [await child(top), await child(top)];
    await grant(test.deps, a, ann.id, "editor");
    await move(a, b);
    expect(await rolesOn(test.deps, a)).toEqual([`${ann.id} editor`]);
    expect(await statusOf(a, ann.token)).toBe(200);
    expect((await stored(test.deps, a)).accesses).toBe(1);
  });

  it("end where it comes into another tree; those of what lies in it stay", async () => {
    const [from, to] = [await root(), await root()];
    const moved = await child(from);
    const leaf = await child(moved);
    await grant(test.deps, moved, ann.id, "editor");
    await grantTeam(test.deps, moved, "writers", "reader");
    await grant(test.deps, leaf, ann.id, "reader");
    expect(await move(moved, to)).toEqual(DONE);
    expect(await rolesOn(test.deps, moved)).toEqual([]);
    expect(await rolesOn(test.deps, leaf)).toEqual([`${ann.id} reader`]);
    expect([await statusOf(moved, ann.token), await statusOf(leaf, ann.token)]).toEqual([403, 200]);
    expect(await stored(test.deps, moved)).toMatchObject({ accesses: 0, owners: 0 });
    const { body } = await call(test.deps, get, { params: { id: moved } });
    expect(body).toMatchObject({ nb_accesses_direct: 0, nb_accesses_ancestors: 1, user_role: "owner" });
  });

  it("end where a root comes to lie in something", async () => {
    const [moved, to] = [await root(), await root()];
    await grant(test.deps, moved, ann.id, "administrator");
    expect(await move(moved, to)).toEqual(DONE);
    expect(await rolesOn(test.deps, moved)).toEqual([]);
    expect(await statusOf(moved, ann.token)).toBe(403);
  });

  it("pass to the owners of its former root, people and teams, where it becomes a root", async () => {
    const [from, beside] = [await root(), await root(ann.token)];
    const moved = await child(await child(from));
    const [bea, cid] = [await person(test.deps, "bea"), await person(test.deps, "cid")];
    await grantTeam(test.deps, from, "writers", "owner");
    await grant(test.deps, from, bea.id, "administrator");
    await grant(test.deps, moved, OWNER_ID, "reader");
    await grant(test.deps, moved, cid.id, "owner");
    test.clock.advance(1_000);
    expect(await move(moved, beside, "left", bea.token)).toEqual(DONE);
    expect(await rolesOn(test.deps, moved)).toEqual([`${OWNER_ID} owner`, "writers owner"]);
    expect(await stored(test.deps, moved)).toMatchObject({ accesses: 2, owners: 2, parent: null });
    const { body } = await call(test.deps, get, { params: { id: moved } });
    expect(body).toMatchObject({ user_role: "owner", nb_accesses_direct: 2, depth: 1 });
    expect([await statusOf(moved, bea.token), await statusOf(moved, cid.token)]).toEqual([403, 403]);
  });

  it("are ended forty at a time at least; of many more the move is refused, and nothing of it happens", async () => {
    const [from, to] = [await root(), await root()];
    const moved = await child(from);
    const users = Array.from({ length: 60 }, () => test.deps.ids.random());
    for (const user of users) await grant(test.deps, moved, user, "reader");
    expect(await move(moved, to)).toEqual(
      said(
        "More accesses of the document and its owners end or begin with this move than can at once: remove some first.",
      ),
    );
    expect(await stored(test.deps, moved)).toMatchObject({ parent: from, accesses: 60 });
    expect(await rolesOn(test.deps, moved)).toHaveLength(60);
    const few = await child(from);
    for (const user of users.slice(0, 40)) await grant(test.deps, few, user, "reader");
    expect(await move(few, to)).toEqual(DONE);
    expect(await rolesOn(test.deps, few)).toEqual([]);
    expect(await move(moved, few, "left")).toMatchObject({ status: 400 });
    expect(await move(moved, await child(from))).toEqual(DONE);
  });

  it("are never left with nobody: what would have no owner does not become a root", async () => {
    const [from, beside] = [await root(), await root()];
    const moved = await child(from);
    await grant(test.deps, from, ann.id, "administrator");
    await grant(test.deps, moved, ann.id, "owner");
    const id = accessId(from, { user: OWNER_ID });
    const fewer = { add: { accesses: -1, owners: -1 } };
    await write(test.deps, [
      { op: "delete", table: accessesTable, key: accessKey(from, id) },
      { op: "update", table: documentsTable, key: documentKey(from), change: fewer },
    ]);
    expect(await move(moved, beside, "right", ann.token)).toEqual(said("The document would have no owner."));
    expect(await rolesOn(test.deps, moved)).toEqual([`${ann.id} owner`]);
  });

  it("come down to its owners' where a root stays one", async () => {
    const [moved, beside] = [await root(), await root()];
    await grant(test.deps, moved, ann.id, "reader");
    expect(await move(moved, beside, "right")).toEqual(DONE);
    expect(await rolesOn(test.deps, moved)).toEqual([`${OWNER_ID} owner`]);
    expect(await stored(test.deps, moved)).toMatchObject({ accesses: 1, owners: 1 });
  });
});

it("sixteen who move at once between the same places get there, and nothing is lost or counted twice", async () => {
  const top = await root();
  const places = [await child(top), await child(top)];
  const moved = await Promise.all(Array.from({ length: 4 }, () => child(places[0] ?? "")));
  const outcomes = await Promise.all(
    Array.from({ length: 16 }, (_, n) => move(moved[n % 4] ?? "", places[(n >> 2) % 2], "first-child")),
  );
  expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set([200]));
  const held = await Promise.all(places.map((id) => childrenIds(test.deps, id)));
  expect(held.flat().toSorted()).toEqual(moved.toSorted());
  const counted = await Promise.all(places.map((id) => stored(test.deps, id)));
  expect(counted.map(({ numchild }) => numchild)).toEqual(held.map(({ length }) => length));
});
