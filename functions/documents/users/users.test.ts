import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  accessesTable,
  accessId,
  accessKey,
  relationKey,
  relationsTable,
} from "#lib/documents/tables/accesses.ts";
import { usersTable } from "#lib/documents/tables/users.ts";
import { createToken } from "#lib/documents/users/tokens.ts";
import { type NewUser, OWNER_ID, planUser } from "#lib/documents/users/users.ts";
import { readConfig } from "#lib/settings/config.ts";
import { TEST_TOKEN, type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { call } from "#lib/testing/test-route-call.ts";
import { route as create } from "../documents/create.ts";
import { route as list } from "./list.ts";
import { route as me } from "./me.ts";
import { route as onboardingDone } from "./onboarding-done.ts";
import { route as replace } from "./replace.ts";
import { route as update } from "./update.ts";

let test: TestDeps;
beforeEach(async () => {
  test = await testDeps({ settings: { WEFT_OWNER_EMAIL: "owner@acme.example" } });
  await call(test.deps, me);
});
afterEach(() => test.close());

const find = (query: Record<string, string>, token: string | null = TEST_TOKEN) =>
  call(test.deps, list, { query, token });
const emails = async (query: Record<string, string>, token?: string) =>
  (await find(query, token)).body.map(({ email }: { email: string }) => email);

async function addUser(made: NewUser): Promise<string> {
  const { user, writes } = planUser(test.deps, made);
  expect(await test.deps.tables.write(writes)).toEqual({ ok: true });
  return user.id;
}

/** Shares a document as the service does. */
async function share(document: string, user: string): Promise<void> {
  const id = accessId(document, { user });
  const at = new Date(test.clock.now()).toISOString();
  const fields = { id, document, user, team: null, role: "reader", created_at: at, revision: 1 };
  await test.deps.tables.write([
    { op: "put", table: accessesTable, item: { ...accessKey(document, id), ...fields } },
    { op: "put", table: relationsTable, item: { ...relationKey(user, document), document, role: "reader" } },
  ]);
}
const makeDocument = async (): Promise<string> => (await call(test.deps, create, { body: {} })).body.id;

describe("a search by address", () => {
  it("finds addresses within an edit distance of three, ignoring case and accents, nearest first", async () => {
    for (const email of [
      "anna@x.example",
      "anne@x.example",
      "annick@x.example",
      "Änna@x.example",
      "bob@y.example",
    ])
      await addUser({ email });
    expect(await emails({ q: "ANNA@x.example" })).toEqual([
      "anna@x.example",
      "Änna@x.example",
      "anne@x.example",
      "annick@x.example",
    ]);
    expect(await emails({ q: "annabell@x.example" })).toEqual([]);
    expect(await emails({ q: "anna@" })).toEqual([]);
  });

  it("returns at most the configured number, and no inactive users", async () => {
    const ids = [];
    for (const letter of "abcdefgh") ids.push(await addUser({ email: `${letter}@x.example` }));
    for (const id of ids.slice(0, 2))
      await test.deps.tables.update(usersTable, { pk: id, sk: "user" }, { set: { is_active: false } });
    expect(await emails({ q: "z@x.example" })).toEqual(
      ["c", "d", "e", "f", "g"].map((one) => `${one}@x.example`),
    );
  });
});

describe("a search by name", () => {
  it("finds only users who share a document or the whole domain with the caller, most recently shared first", async () => {
    await addUser({ email: "martin@acme.example", full_name: "Martin Dupont" });
    await addUser({ email: "martin@sub.acme.example", full_name: "Martin Sub" });
    await addUser({ email: "martin@far.example", full_name: "Martin Far" });
    const early = await addUser({ email: "early@else.example", full_name: "Martin Early" });
    const late = await addUser({ email: "late@else.example", full_name: "Màrtin Late" });
    await share(await makeDocument(), early);
    test.clock.advance(1_000);
    await share(await makeDocument(), late);
    expect(await emails({ q: "martin" })).toEqual([
      "late@else.example",
      "early@else.example",
      "martin@acme.example",
    ]);
    expect(await emails({ q: "MÄRTIN" })).toHaveLength(3);
    expect(await emails({ q: "zzzzzz" })).toEqual([]);
  });

  it("finds users who were added since the last search, most similar first", async () => {
    await addUser({ email: "a1@acme.example", full_name: "Jeanne" });
    expect(await emails({ q: "jean" })).toEqual(["a1@acme.example"]);
    await addUser({ email: "a2@acme.example", full_name: "Jean" });
    expect(await emails({ q: "jean" })).toEqual(["a2@acme.example", "a1@acme.example"]);
  });

  it("excludes users with access to a document, if the caller may see its accesses", async () => {
    const ada = await addUser({ email: "ada@acme.example" });
    const document = await makeDocument();
    await share(document, ada);
    expect(await emails({ q: "ada@acme.example" })).toEqual(["ada@acme.example"]);
    expect(await emails({ q: "ada@acme.example", document_id: document })).toEqual([]);
    const { token } = await createToken(test.deps, { email: "x@y.example" });
    expect(await emails({ q: "ada@acme.example", document_id: document }, token)).toEqual([
      "ada@acme.example",
    ]);
  });
});

describe("settings of the search", () => {
  it("configure the number of results, the minimum query length and the languages", async () => {
    await test.close();
    const settings = { API_USERS_LIST_LIMIT: "2", API_USERS_SEARCH_QUERY_MIN_LENGTH: "1" };
    test = await testDeps({ settings: { ...settings, LANGUAGES: "tlh,Klingon", LANGUAGE_CODE: "tlh" } });
    for (const letter of "abc") await addUser({ email: `${letter}@x.example` });
    expect(await emails({ q: "d@x.example" })).toEqual(["a@x.example", "b@x.example"]);
    expect(await find({ q: "a" })).toMatchObject({ status: 200 });
    const chosen = (language: string) =>
      call(test.deps, update, { params: { id: OWNER_ID }, body: { language } });
    expect([(await chosen("tlh")).status, (await chosen("fr-fr")).status]).toEqual([200, 400]);
  });

  it.each([{ API_USERS_LIST_LIMIT: "0" }, { LANGUAGES: "English" }])("reject %j", (settings) => {
    expect(() => readConfig(settings)).toThrow(Object.keys(settings)[0]);
  });
});

describe("a search", () => {
  it("requires a caller, and a query of valid length; without a query, the result is empty", async () => {
    expect((await find({ q: "someone" }, null)).status).toBe(401);
    expect(await find({})).toEqual({ status: 200, body: [] });
    expect(await find({ q: "ab" })).toEqual({
      status: 400,
      body: { q: ["Ensure this value has at least 3 characters (it has 2)."] },
    });
    expect(await find({ q: "x".repeat(255) })).toEqual({
      status: 400,
      body: { q: ["Ensure this value has at most 254 characters (it has 255)."] },
    });
    expect(await find({ q: "abc", document_id: "no" })).toEqual({
      status: 400,
      body: { document_id: ["Must be a valid UUID."] },
    });
  });
});

describe("a user", () => {
  const change = (id: string, body: object, token: string | null = TEST_TOKEN) =>
    call(test.deps, update, { params: { id }, body, token });

  it("changes only their own language", async () => {
    const { body: before } = await call(test.deps, me);
    const body = {
      language: "fr-fr",
      email: "other@example.com",
      full_name: "Other",
      is_first_connection: false,
    };
    expect(await change(OWNER_ID, body)).toEqual({ status: 200, body: { ...before, language: "fr-fr" } });
    expect((await call(test.deps, me)).body.language).toBe("fr-fr");
    expect((await call(test.deps, replace, { params: { id: OWNER_ID }, body: {} })).body.language).toBe(
      "fr-fr",
    );
    expect((await change(OWNER_ID, { language: null })).body.language).toBeNull();
    expect(await change(OWNER_ID, { language: "xx-xx" })).toEqual({
      status: 400,
      body: { language: ['"xx-xx" is not a valid choice.'] },
    });
  });

  it("cannot be changed by others", async () => {
    const { token } = await createToken(test.deps, { email: "x@y.example" });
    expect((await change(OWNER_ID, { language: "fr-fr" }, token)).status).toBe(403);
    expect((await change(OWNER_ID, { language: "fr-fr" }, null)).status).toBe(401);
    const wrong = { language: 5 };
    expect((await change(OWNER_ID, wrong, token)).status).toBe(403);
    expect((await call(test.deps, replace, { params: { id: OWNER_ID }, body: wrong, token })).status).toBe(
      403,
    );
    expect((await change(OWNER_ID, wrong)).status).toBe(400);
    expect((await call(test.deps, me)).body.language).toBeNull();
  });

  it("records that the onboarding is done", async () => {
    expect((await call(test.deps, me)).body.is_first_connection).toBe(true);
    for (let time = 0; time < 2; time += 1)
      expect(await call(test.deps, onboardingDone)).toEqual({
        status: 200,
        body: { detail: "Onboarding marked as done." },
      });
    expect((await call(test.deps, me)).body.is_first_connection).toBe(false);
  });
});
