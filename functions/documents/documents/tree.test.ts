import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { NODES_MAX } from "#lib/documents/records/tree.ts";
import { childrenOf, childrenTable, documentKey, documentsTable } from "#lib/documents/tables/documents.ts";
import { TEST_TOKEN, type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { createUser, grantRole, readDocument, setLink, type TestUser } from "#lib/testing/test-documents.ts";
import { call } from "#lib/testing/test-route-call.ts";
import { route as create } from "./create.ts";
import { route as createChild } from "./create-child.ts";
import { route as remove } from "./delete.ts";
import { route as listChildren } from "./list-children.ts";
import { route as getTree } from "./tree.ts";

const NOWHERE = "11111111-1111-4111-8111-111111111111";
const DAY_MS = 24 * 60 * 60 * 1000;

let test: TestDeps;
let ann: TestUser;
beforeEach(async () => {
  test = await testDeps();
  ann = await createUser(test.deps, "ann");
});
afterEach(() => test.close());

type Token = string | null;
const root = async (title: string): Promise<string> =>
  (await call(test.deps, create, { body: { title } })).body.id;
const child = async (id: string, title: string): Promise<string> =>
  (await call(test.deps, createChild, { params: { id }, body: { title } })).body.id;
const tree = (id: string, token: Token = TEST_TOKEN) => call(test.deps, getTree, { params: { id }, token });

interface TreeNode {
  readonly title: string;
  readonly children: readonly TreeNode[];
}
/** `a(b c(d))` */
const drawn = ({ title, children }: TreeNode): string =>
  `${title}${children.length === 0 ? "" : `(${children.map(drawn).join(" ")})`}`;

/** a has the children b and c, c has d and e, e has f and g; b has h. */
async function grown() {
  const a = await root("a");
  const [b, c] = [await child(a, "b"), await child(a, "c")];
  const [d, e] = [await child(c, "d"), await child(c, "e")];
  const [f, g] = [await child(e, "f"), await child(e, "g")];
  return { a, b, c, d, e, f, g, h: await child(b, "h") };
}

describe("a tree", () => {
  it("is expanded along the path to the document, with the children of each ancestor and its own", async () => {
    const { a, b, c, e, f } = await grown();
    const of = async (id: string) => drawn((await tree(id)).body);
    expect(await of(a)).toBe("a(b c)");
    expect(await of(b)).toBe("a(b(h) c)");
    expect(await of(c)).toBe("a(b c(d e))");
    expect(await of(e)).toBe("a(b c(d e(f g)))");
    expect(await of(f)).toBe("a(b c(d e(f g)))");
  });

  it("contains each document as in its detail response", async () => {
    const { c, e } = await grown();
    const { body } = await tree(e);
    const [, inTree] = body.children;
    const { body: page } = await call(test.deps, listChildren, { params: { id: c } });
    expect(inTree.children.map(({ children: _, ...rest }: TreeNode) => rest)).toEqual(page.results);
  });

  it("starts at the highest document that the caller may read", async () => {
    const { a, c, d, e, f } = await grown();
    await grantRole(test.deps, e, ann.id, "reader");
    expect(drawn((await tree(f, ann.token)).body)).toBe("e(f g)");
    expect([(await tree(d, ann.token)).status, (await tree(d, null)).status]).toEqual([403, 401]);
    await setLink(test.deps, c, "authenticated", "reader");
    expect(drawn((await tree(f, ann.token)).body)).toBe("c(d e(f g))");
    expect((await tree(f, null)).status).toBe(401);
    await setLink(test.deps, a, "public", "reader");
    expect(drawn((await tree(f, null)).body)).toBe("a(b c(d e(f g)))");
    expect((await tree(NOWHERE, null)).status).toBe(404);
    expect((await tree(NOWHERE)).status).toBe(404);
  });

  it("omits deleted documents, and shows one to its owner with the children that were deleted with it", async () => {
    const { a, c, d, e, f } = await grown();
    await setLink(test.deps, a, "public", "reader");
    await call(test.deps, remove, { params: { id: c } });
    expect(drawn((await tree(a)).body)).toBe("a(b)");
    const { body } = await tree(c);
    expect(drawn(body)).toBe("c(d e)");
    expect(body.children.map((one: { deleted_at: string }) => one.deleted_at)).toEqual([
      body.deleted_at,
      body.deleted_at,
    ]);
    expect(drawn((await tree(e)).body)).toBe("e(f g)");
    expect(drawn((await tree(f)).body)).toBe("f");
    expect((await tree(d, ann.token)).status).toBe(403);
    expect([(await tree(f, ann.token)).status, (await tree(f, null)).status]).toEqual([403, 401]);
    test.clock.advance(31 * DAY_MS);
    expect([(await tree(f)).status, (await tree(f, ann.token)).status]).toEqual([404, 404]);
  });

  it("of a deleted document omits children that were deleted separately before", async () => {
    const { c, d, e } = await grown();
    await call(test.deps, remove, { params: { id: d } });
    await call(test.deps, remove, { params: { id: c } });
    expect(drawn((await tree(c)).body)).toBe("c(e)");
    expect(drawn((await tree(d)).body)).toBe("d");
    expect(drawn((await tree(e)).body)).toBe("e(f g)");
  });

  it("is limited in size, and always contains the path to the document", async () => {
    const top = await root("top");
    const last = await readDocument(test.deps, await child(top, "last"));
    const count = NODES_MAX + 500;
    const made = Array.from({ length: count }, (_, n) => ({
      id: test.deps.ids.random(),
      order: String(n).padStart(7, "0"),
    }));
    for (let at = 0; at < count; at += 50)
      await test.deps.tables.write(
        made.slice(at, at + 50).flatMap(({ id, order }) => [
          { op: "put", table: documentsTable, item: { ...last, ...documentKey(id), id, order } },
          { op: "put", table: childrenTable, item: { pk: childrenOf(top), sk: order, id } },
        ]),
      );
    await test.deps.tables.update(documentsTable, documentKey(top), { add: { numchild: count } });
    const { body } = await tree(last.id);
    expect(body.children.length).toBe(NODES_MAX + 1);
    expect(body.children.at(-1).id).toBe(last.id);
  });
});
