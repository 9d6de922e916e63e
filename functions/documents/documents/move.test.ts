import { setImmediate } from "node:timers/promises";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Role } from "#lib/documents/access/roles.ts";
import { planInvitation } from "#lib/documents/sharing/invitations.ts";
import { accessesTable, accessId, accessKey, relationsTable } from "#lib/documents/tables/accesses.ts";
import { documentKey, documentsTable } from "#lib/documents/tables/documents.ts";
import { invitationsTable } from "#lib/documents/tables/invitations.ts";
import { POSITIONS } from "#lib/documents/tree/move-target.ts";
import { OWNER_ID } from "#lib/documents/users/users.ts";
import { readAll } from "#lib/events/read-all.ts";
import { TEST_TOKEN, type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import {
  createUser,
  grantRole,
  grantTeam,
  listChildren,
  listRoles,
  readDocument,
  setLink,
  type TestUser,
  writeRows,
} from "#lib/testing/test-documents.ts";
import { call } from "#lib/testing/test-route-call.ts";
import { readLog } from "#lib/testing/test-workflows.ts";
import { route as create } from "./create.ts";
import { route as createChild } from "./create-child.ts";
import { route as remove } from "./delete.ts";
import { route as get } from "./get.ts";
import { route as moveRoute } from "./move.ts";

const NOWHERE = "11111111-1111-4111-8111-111111111111";

let test: TestDeps;
let ann: TestUser;
beforeEach(async () => {
  test = await testDeps();
  ann = await createUser(test.deps, "ann");
});
afterEach(() => test.close());

type Token = string | null;
const root = async (token: Token = TEST_TOKEN): Promise<string> =>
  (await call(test.deps, create, { body: {}, token })).body.id;
const child = async (id: string, token: Token = TEST_TOKEN): Promise<string> =>
  (await call(test.deps, createChild, { params: { id }, body: {}, token })).body.id;
const move = (id: string, target: unknown, position?: unknown, token: Token = TEST_TOKEN) =>
  call(test.deps, moveRoute, {
    params: { id },
    token,
    body: { target_document_id: target, ...(position === undefined ? {} : { position }) },
  });
const statusOf = async (id: string, token: Token) =>
  (await call(test.deps, get, { params: { id }, token })).status;
const drop = (id: string) => call(test.deps, remove, { params: { id } });
const said = (message: string) => ({ status: 400, body: { target_document_id: message } });
/** Documents sorted by their paths. */
const sorted = async (ids: readonly string[]): Promise<string[]> => {
  const pages = await Promise.all(ids.map((id) => call(test.deps, get, { params: { id } })));
  const paths = new Map<string, string>(pages.map(({ body }) => [body.path, body.id]));
  return [...paths.keys()].toSorted().map((path) => paths.get(path) ?? "");
};
/** Accesses that a move has staged. */
const staged = async (): Promise<string[]> => {
  const { items } = await test.deps.tables.scan(accessesTable, { limit: 1_000 });
  return items.map(({ pk }) => pk).filter((pk) => pk.includes("/pending-move/"));
};
const DONE = { status: 200, body: { message: "Document moved successfully." } };

describe("a move", () => {
  it("gives a document a path that sorts correctly, among children and among roots", async () => {
    const [one, two, three] = [await root(), await root(), await root()];
    const [a, b, c] = [await child(two), await child(two), await child(two)];
    const below = await child(a);
    const all = [below, c, b, a, three, two, one];
    expect(await sorted(all)).toEqual([one, two, a, below, b, c, three]);
    await move(c, a, "left");
    expect(await sorted(all)).toEqual([one, two, c, a, below, b, three]);
    await move(a, b, "right");
    expect(await sorted(all)).toEqual([one, two, c, b, a, below, three]);
    await move(a, c, "first-sibling");
    await move(c, b, "last-sibling");
    expect(await sorted(all)).toEqual([one, two, a, below, b, c, three]);
    await move(three, one, "left");
    await move(two, one, "right");
    expect(await sorted(all)).toEqual([three, one, two, a, below, b, c]);
    await move(b, three, "first-sibling");
    await move(one, two, "first-child");
    expect(await sorted(all)).toEqual([b, three, two, one, a, below, c]);
    await move(two, three, "last-sibling");
    await move(a, b, "right");
    expect(await sorted(all)).toEqual([b, a, below, three, two, one, c]);
  });

  it("uses the position; the default is the last child", async () => {
    const top = await root();
    const [a, b, c] = [await child(top), await child(top), await child(top)];
    const moved = await child(b);
    const orderNow = async () =>
      (await listChildren(test.deps, top))
        .map((id) => ({ [a]: "a", [b]: "b", [c]: "c" })[id] ?? "x")
        .join("");
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
    expect((await readDocument(test.deps, top)).numchild).toBe(4);
    expect((await readDocument(test.deps, b)).numchild).toBe(0);
  });

  it.each(POSITIONS)("onto itself or into itself is rejected: %s", async (position) => {
    const top = await root();
    const moved = await child(top);
    const leaf = await child(await child(moved));
    const own = said("Cannot move a document to its own descendant.");
    for (const target of [moved, leaf]) expect(await move(moved, target, position)).toEqual(own);
    expect(await move(top, top, position)).toEqual(own);
    expect(await move(top, leaf, position)).toEqual(own);
    expect(await listChildren(test.deps, top)).toEqual([moved]);
  });

  it("reports invalid fields, once the caller may move the document", async () => {
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

  it("requires rights on the document and the new parent; everybody may move to the roots", async () => {
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
    await grantRole(test.deps, theirs, ann.id, "administrator");
    expect(await move(inTheirs, mine, "last-child", ann.token)).toEqual(DONE);
  });

  it("rejects unknown targets and deleted documents", async () => {
    const [top, gone] = [await root(), await root()];
    const below = await child(gone);
    await drop(gone);
    for (const target of [NOWHERE, gone, below])
      expect(await move(top, target)).toEqual(said("Target parent document does not exist."));
    expect((await move(gone, top)).status).toBe(403);
    expect((await move(below, top, "left", ann.token)).status).toBe(404);
  });

  it("emits an event with the former parent", async () => {
    const top = await root();
    const [a, b] = [await child(top), await child(top)];
    await move(a, b);
    const { records } = await readLog(test.deps);
    const [last] = records;
    expect(last).toMatchObject({ topic: "documents.moved", source: "documents" });
    expect(JSON.parse(last?.data ?? "")).toMatchObject({
      document_id: a,
      parent_id: b,
      previous_parent_id: top,
      user_id: OWNER_ID,
    });
  });

  it("rejects trees beyond the maximum depth", async () => {
    let deep = await root();
    for (let depth = 2; depth < 36; depth += 1) deep = await child(deep);
    const top = await root();
    await child(top);
    expect(await move(top, deep)).toEqual({
      status: 400,
      body: { non_field_errors: ["The tree has reached its maximum depth."] },
    });
  });
});

describe("permissions of a moved document", () => {
  it("stay within its tree", async () => {
    const top = await root();
    const [a, b] = [await child(top), await child(top)];
    await grantRole(test.deps, a, ann.id, "editor");
    await move(a, b);
    expect(await listRoles(test.deps, a)).toEqual([`${ann.id} editor`]);
    expect(await statusOf(a, ann.token)).toBe(200);
    expect((await readDocument(test.deps, a)).accesses).toBe(1);
  });

  it("are removed when it moves into another tree; those of its descendants remain", async () => {
    const [from, to] = [await root(), await root()];
    const moved = await child(from);
    const leaf = await child(moved);
    await grantRole(test.deps, moved, ann.id, "editor");
    await grantTeam(test.deps, moved, "writers", "reader");
    await grantRole(test.deps, leaf, ann.id, "reader");
    expect(await move(moved, to)).toEqual(DONE);
    expect(await listRoles(test.deps, moved)).toEqual([]);
    expect(await listRoles(test.deps, leaf)).toEqual([`${ann.id} reader`]);
    expect([await statusOf(moved, ann.token), await statusOf(leaf, ann.token)]).toEqual([403, 200]);
    expect(await readDocument(test.deps, moved)).toMatchObject({ accesses: 0, owners: 0 });
    const { body } = await call(test.deps, get, { params: { id: moved } });
    expect(body).toMatchObject({ nb_accesses_direct: 0, nb_accesses_ancestors: 1, user_role: "owner" });
  });

  it("are removed when a root gets a parent", async () => {
    const [moved, to] = [await root(), await root()];
    await grantRole(test.deps, moved, ann.id, "administrator");
    expect(await move(moved, to)).toEqual(DONE);
    expect(await listRoles(test.deps, moved)).toEqual([]);
    expect(await statusOf(moved, ann.token)).toBe(403);
  });

  it("pass to the owners of its former root, users and teams, when it becomes a root", async () => {
    const [from, beside] = [await root(), await root(ann.token)];
    const moved = await child(await child(from));
    const [bea, cid] = [await createUser(test.deps, "bea"), await createUser(test.deps, "cid")];
    await grantTeam(test.deps, from, "writers", "owner");
    await grantRole(test.deps, from, bea.id, "administrator");
    await grantRole(test.deps, moved, OWNER_ID, "reader");
    await grantRole(test.deps, moved, cid.id, "owner");
    test.clock.advance(1_000);
    expect(await move(moved, beside, "left", bea.token)).toEqual(DONE);
    expect(await listRoles(test.deps, moved)).toEqual([`${OWNER_ID} owner`, "writers owner"]);
    expect(await readDocument(test.deps, moved)).toMatchObject({ accesses: 2, owners: 2, parent: null });
    const { body } = await call(test.deps, get, { params: { id: moved } });
    expect(body).toMatchObject({ user_role: "owner", nb_accesses_direct: 2, depth: 1 });
    expect([await statusOf(moved, bea.token), await statusOf(moved, cid.token)]).toEqual([403, 403]);
  });

  /** A root with users, teams and invitations. */
  async function shared(people: number, invited: number, role: Role = "reader"): Promise<string> {
    const id = await root();
    await grantRole(test.deps, id, ann.id, role);
    for (let each = 0; each < people; each += 1) await grantRole(test.deps, id, test.deps.ids.random(), role);
    for (let each = 0; each < invited; each += 1) {
      const email = `guest-${each}@example.org`;
      const made = { document: id, email, role: "reader", issuer: OWNER_ID } as const;
      await writeRows(test.deps, planInvitation(test.deps, made).writes);
    }
    return id;
  }
  const invitationsOf = (id: string) => readAll(test.deps, invitationsTable, { pk: id });
  const seenNow = async (id: string, token: Token = TEST_TOKEN) => {
    const { status, body } = await call(test.deps, get, { params: { id }, token });
    return status === 200 ? `${body.depth} ${body.user_role} ${body.nb_accesses_direct}` : status;
  };

  it("are removed at once with the invitations, in any number", async () => {
    const [moved, to] = [await shared(120, 60), await root()];
    await grantTeam(test.deps, moved, "writers", "editor");
    const observed: unknown[] = [];
    let isOver = false;
    const watch = async (): Promise<void> => {
      while (!isOver) {
        observed.push([await seenNow(moved, ann.token), await seenNow(moved)].join(", "));
        await setImmediate();
      }
    };
    const watching = watch();
    expect(await move(moved, to)).toEqual(DONE);
    isOver = true;
    await watching;
    // Each reader reads once: a later read may see the move that an earlier one did not.
    const states = ["1 reader 123, 1 owner 123", "1 reader 123, 2 owner 0", "403, 2 owner 0"];
    const seen = observed.map((one) => states.indexOf(String(one)));
    expect(seen).toEqual(seen.toSorted());
    expect(seen[0]).toBeGreaterThanOrEqual(0);
    expect(await listRoles(test.deps, moved)).toEqual([]);
    expect(await invitationsOf(moved)).toEqual([]);
    const { accesses, pending_move } = await readDocument(test.deps, moved);
    expect([accesses, pending_move]).toEqual([0, undefined]);
    expect(await statusOf(moved, ann.token)).toBe(403);
    await grantRole(test.deps, moved, ann.id, "editor");
    expect(await seenNow(moved, ann.token)).toBe("2 editor 1");
  });

  it("pass to the owners of its former root, in any number", async () => {
    const [from, beside] = [await shared(60, 0, "owner"), await root(ann.token)];
    const moved = await child(from);
    const bea = await createUser(test.deps, "bea");
    await grantRole(test.deps, moved, bea.id, "owner");
    await grantRole(test.deps, moved, ann.id, "reader");
    expect(await move(moved, beside, "left")).toEqual(DONE);
    expect(await listRoles(test.deps, moved)).toEqual(await listRoles(test.deps, from));
    expect([await seenNow(moved, ann.token), await seenNow(moved, bea.token)]).toEqual(["1 owner 62", 403]);
    expect(await readAll(test.deps, relationsTable, { pk: ann.id })).toHaveLength(3);
  });

  it("are those before or after the move wherever the server dies, and are completed later", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(14), fc.boolean(), async (writes, toRoot) => {
        let left = writes;
        const dying = <Port extends object>(port: Port): Port =>
          new Proxy(port, {
            get: (target, name) => {
              const value = Reflect.get(target, name, target);
              if (typeof value !== "function") return value;
              if (name !== "commit" && name !== "write") return value.bind(target);
              return async (...given: unknown[]) => {
                left -= 1;
                if (left < 0) throw new Error("the server died");
                return value.apply(target, given);
              };
            },
          });
        const from = await shared(45, 45, "owner");
        const beside = await root(ann.token);
        const moved = toRoot ? await child(from) : from;
        if (toRoot)
          for (let each = 0; each < 45; each += 1)
            await grantRole(test.deps, moved, test.deps.ids.random(), "reader");
        const deps = { ...test.deps, outbox: dying(test.deps.outbox), tables: dying(test.deps.tables) };
        const body = { target_document_id: beside, position: toRoot ? "left" : "last-child" };
        const before = await readDocument(test.deps, moved);
        await call(deps, moveRoute, { params: { id: moved }, body, token: TEST_TOKEN });
        const after = await readDocument(test.deps, moved);
        const isMoved = after.parent !== before.parent;
        const role = isMoved && !toRoot ? [`2 owner 0`] : [toRoot && !isMoved ? "2 owner 45" : "1 owner 47"];
        expect([await seenNow(moved, ann.token)]).toEqual(role);
        test.clock.advance(31_000);
        await test.tick();
        const rest = await readDocument(test.deps, moved);
        expect(rest.pending_move).toBeUndefined();
        expect(await staged()).toEqual([]);
        expect(await listRoles(test.deps, moved)).toHaveLength(rest.accesses);
        expect(await invitationsOf(moved)).toHaveLength(isMoved || toRoot ? 0 : 45);
        expect([await seenNow(moved, ann.token)]).toEqual(role);
      }),
      { numRuns: 5 },
    );
  }, 60_000);

  it("are those of the move even if it was paused until its staged data was removed", async () => {
    const from = await shared(45, 45, "owner");
    const beside = await root(ann.token);
    const moved = await child(from);
    for (let each = 0; each < 45; each += 1)
      await grantRole(test.deps, moved, test.deps.ids.random(), "reader");
    let stops = 1;
    const { outbox } = test.deps;
    const commit: typeof outbox.commit = async (change) => {
      stops -= 1;
      if (stops === 0) {
        expect(await staged()).not.toEqual([]);
        test.clock.advance(31_000);
        await test.tick();
        expect(await staged()).toEqual([]);
      }
      return outbox.commit(change);
    };
    const deps = { ...test.deps, outbox: { ...outbox, commit } };
    const body = { target_document_id: beside, position: "left" };
    expect(await call(deps, moveRoute, { params: { id: moved }, body, token: TEST_TOKEN })).toEqual(DONE);
    const { accesses, pending_move } = await readDocument(test.deps, moved);
    expect([pending_move, await listRoles(test.deps, moved)]).toEqual([
      undefined,
      await listRoles(test.deps, from),
    ]);
    expect([accesses, await staged()]).toEqual([47, []]);
  });

  it("always include an owner: a document without one cannot become a root", async () => {
    const [from, beside] = [await root(), await root()];
    const moved = await child(from);
    await grantRole(test.deps, from, ann.id, "administrator");
    await grantRole(test.deps, moved, ann.id, "owner");
    const id = accessId(from, { user: OWNER_ID });
    const fewer = { add: { accesses: -1, owners: -1 } };
    await writeRows(test.deps, [
      { op: "delete", table: accessesTable, key: accessKey(from, id) },
      { op: "update", table: documentsTable, key: documentKey(from), change: fewer },
    ]);
    expect(await move(moved, beside, "right", ann.token)).toEqual(said("The document would have no owner."));
    expect(await listRoles(test.deps, moved)).toEqual([`${ann.id} owner`]);
  });

  it("are reduced to the owners' if a root remains one", async () => {
    const [moved, beside] = [await root(), await root()];
    await grantRole(test.deps, moved, ann.id, "reader");
    expect(await move(moved, beside, "right")).toEqual(DONE);
    expect(await listRoles(test.deps, moved)).toEqual([`${OWNER_ID} owner`]);
    expect(await readDocument(test.deps, moved)).toMatchObject({ accesses: 1, owners: 1 });
  });
});

it("sixteen concurrent moves between the same positions all succeed, and nothing is lost or counted twice", async () => {
  const top = await root();
  const places = [await child(top), await child(top)];
  const moved = await Promise.all(Array.from({ length: 4 }, () => child(places[0] ?? "")));
  const outcomes = await Promise.all(
    Array.from({ length: 16 }, (_, n) => move(moved[n % 4] ?? "", places[(n >> 2) % 2], "first-child")),
  );
  expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set([200]));
  const held = await Promise.all(places.map((id) => listChildren(test.deps, id)));
  expect(held.flat().toSorted()).toEqual(moved.toSorted());
  const counted = await Promise.all(places.map((id) => readDocument(test.deps, id)));
  expect(counted.map(({ numchild }) => numchild)).toEqual(held.map(({ length }) => length));
});
