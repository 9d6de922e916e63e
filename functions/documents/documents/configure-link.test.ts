import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TEST_TOKEN, type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { createUser, grantRole, type TestUser } from "#lib/testing/test-documents.ts";
import { call } from "#lib/testing/test-route-call.ts";
import { readLog } from "#lib/testing/test-workflows.ts";
import { route as configureLink } from "./configure-link.ts";
import { route as create } from "./create.ts";
import { route as createChild } from "./create-child.ts";
import { route as remove } from "./delete.ts";
import { route as get } from "./get.ts";

let test: TestDeps;
let ann: TestUser;
beforeEach(async () => {
  test = await testDeps();
  ann = await createUser(test.deps, "ann");
});
afterEach(() => test.close());

type Token = string | null;
const root = async (): Promise<string> => (await call(test.deps, create, { body: {} })).body.id;
const child = async (id: string): Promise<string> =>
  (await call(test.deps, createChild, { params: { id }, body: {} })).body.id;
const set = (id: string, body: object, token: Token = TEST_TOKEN) =>
  call(test.deps, configureLink, { params: { id }, body, token });
const read = (id: string, token: Token) => call(test.deps, get, { params: { id }, token });

describe("the link of a document", () => {
  it("grants and revokes access to the document and its descendants", async () => {
    const top = await root();
    const below = await child(top);
    const inside = { link_reach: "authenticated", link_role: "commenter" };
    expect(await set(top, inside)).toEqual({ status: 200, body: inside });
    expect((await read(below, null)).status).toBe(401);
    expect((await read(below, ann.token)).body).toMatchObject({
      ancestors_link_reach: "authenticated",
      ancestors_link_role: "commenter",
      user_role: null,
      computed_link_reach: "authenticated",
      computed_link_role: "commenter",
      link_reach: "restricted",
      abilities: { comment: true, update: false, link_configuration: false },
    });
    await set(top, { link_reach: "public", link_role: "reader" });
    expect((await read(below, null)).status).toBe(200);
    const shut = await set(top, { link_reach: "restricted" });
    expect(shut).toEqual({ status: 200, body: { link_reach: "restricted", link_role: "reader" } });
    expect((await set(top, { link_reach: "restricted", link_role: null })).status).toBe(200);
    expect([(await read(below, null)).status, (await read(below, ann.token)).status]).toEqual([401, 403]);
  });

  it("emits an event if it changed", async () => {
    const top = await root();
    const body = { link_reach: "public", link_role: "editor" };
    for (let time = 0; time < 2; time += 1) await set(top, body);
    await test.drain();
    const { records } = await readLog(test.deps, { topic: "documents.shared" });
    expect(records.map(({ data }) => JSON.parse(data ?? ""))).toMatchObject([
      { document_id: top, change: "link", shared_with: null, role: "editor", link_reach: "public" },
    ]);
  });

  it("changes the document's update time", async () => {
    const top = await root();
    test.clock.advance(1_000);
    await set(top, { link_reach: "public", link_role: "editor" });
    const { body } = await read(top, null);
    expect(body.updated_at > body.created_at).toBe(true);
  });

  it.each([
    [{}, { link_reach: ["This field is required."] }],
    [{ link_role: "reader" }, { link_reach: ["This field is required."] }],
    [{ link_reach: null }, { link_reach: ["This field may not be null."] }],
    [{ link_reach: "all" }, { link_reach: ['"all" is not a valid choice.'] }],
    [{ link_reach: "public", link_role: "owner" }, { link_role: ['"owner" is not a valid choice.'] }],
    [
      { link_reach: "restricted", link_role: "reader" },
      {
        link_role: [
          "Cannot set link_role when link_reach is 'restricted'. Link role must be null for restricted reach.",
        ],
      },
    ],
    [
      { link_reach: "public" },
      {
        link_role: [
          "Link role 'None' is not allowed for link reach 'public'. Allowed roles: reader, commenter, editor",
        ],
      },
    ],
  ])("of %j is refused by field", async (body, said) => {
    expect(await set(await root(), body)).toEqual({ status: 400, body: said });
  });

  it("is never narrower than that of the ancestors", async () => {
    const top = await root();
    const below = await child(top);
    await set(top, { link_reach: "authenticated", link_role: "commenter" });
    expect((await set(below, { link_reach: "restricted" })).body).toEqual({
      link_reach: ["Link reach 'restricted' is not allowed based on parent document configuration."],
    });
    expect((await set(below, { link_reach: "public", link_role: "reader" })).body).toEqual({
      link_role: [
        "Link role 'reader' is not allowed for link reach 'public'. Allowed roles: commenter, editor",
      ],
    });
    expect((await set(below, { link_reach: "authenticated", link_role: "editor" })).status).toBe(200);
  });

  it("requires management rights, which are checked before the body", async () => {
    const top = await root();
    await grantRole(test.deps, top, ann.id, "editor");
    expect([(await set(top, {}, ann.token)).status, (await set(top, {}, null)).status]).toEqual([403, 401]);
    const bea = await createUser(test.deps, "bea");
    await grantRole(test.deps, top, bea.id, "administrator");
    expect((await set(top, { link_reach: "public", link_role: "reader" }, bea.token)).status).toBe(200);
    await call(test.deps, remove, { params: { id: top } });
    expect([(await set(top, {})).status, (await set(top, {}, bea.token)).status]).toEqual([403, 404]);
  });
});
