import { afterEach, beforeEach, expect, it } from "vitest";
import { HttpAccessFeed } from "#lib/collaboration/http-access-feed.ts";
import { httpRequests } from "#lib/collaboration/http-requests.ts";
import type { AccessChanges } from "#lib/documents/live-requests/access-feed.ts";
import { type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { createUser, grantRole } from "#lib/testing/test-documents.ts";
import { type TestGateway, testGateway } from "#lib/testing/test-gateway.ts";

const WAIT = { timeout: 20_000 };
const KEY = "a-provider-key-for-tests";

let test: TestDeps;
let gateway: TestGateway;
let id: string;
beforeEach(async () => {
  test = await testDeps({ settings: { Y_PROVIDER_API_KEY: KEY } });
  gateway = await testGateway(test);
  id = (await gateway.request("POST", "/documents/", { body: {} })).body.id;
});
afterEach(async () => {
  await gateway.close();
  await test.close();
});

const changes = (query: Record<string, string> = {}, token: string | null = KEY) =>
  gateway.request("GET", `/collaboration/changes/?${new URLSearchParams(query)}`, { token });
const states = (documents: unknown, token: string | null = KEY) =>
  gateway.request("POST", "/collaboration/access-states/", { body: { documents }, token });

it("waits for a change, whose row names what has changed", async () => {
  const { counts } = (await changes()).body;
  const waiting = changes({ counts: counts.join(), wait: "25" });
  const ann = await createUser(test.deps, "ann");
  await grantRole(test.deps, id, ann.id, "reader");
  const { body } = await waiting;
  const shard = body.counts.findIndex((count: number, at: number) => count !== counts[at]).toString(16);
  const { rows } = (await changes({ shard, since: "0" })).body;
  expect(rows.flatMap((row: { relations: unknown[] }) => row.relations)).toContainEqual([ann.id, id]);
});

it("responds with nothing new after the time", async () => {
  const { counts } = (await changes()).body;
  expect((await changes({ counts: counts.join(), wait: "1" })).body).toMatchObject({ counts, users: [] });
});

it("is followed by a feed that misses nothing while the document service does not respond", async () => {
  const request = httpRequests(gateway.url);
  let isDown = false;
  const feed = new HttpAccessFeed({
    key: KEY,
    request: (asked) => (isDown ? Promise.reject(new Error("down")) : request(asked)),
  });
  const read = () => feed.read().catch(() => "failed" as const);
  try {
    // At first, everything may have changed.
    await expect.poll(async () => isReset(await read()), WAIT).toBe(true);
    isDown = true;
    const ann = await createUser(test.deps, "ann");
    await grantRole(test.deps, id, ann.id, "reader");
    await expect.poll(read, WAIT).toBe("failed");
    isDown = false;
    const found: (readonly string[])[] = [];
    const relations = async () => {
      const changes = await read();
      if (changes !== "failed") found.push(...changes.relations);
      return found;
    };
    await expect.poll(relations, WAIT).toContainEqual([ann.id, id]);
  } finally {
    feed.close();
  }
});

const isReset = (changes: AccessChanges | "failed"): boolean => changes !== "failed" && changes.isReset;

it("tells the ancestors of documents", async () => {
  const child = (await gateway.request("POST", `/documents/${id}/children/`, { body: {} })).body.id;
  const { documents } = (await states([child, id, "none"])).body;
  expect(documents).toHaveLength(2);
  expect(documents).toEqual(
    expect.arrayContaining([
      { id, line: [id] },
      { id: child, line: [id, child] },
    ]),
  );
});

it("tells changes of access from others", async () => {
  const child = (await gateway.request("POST", `/documents/${id}/children/`, { body: {} })).body.id;
  const lastRow = async () => {
    const shards = [..."0123456789abcdef"].map((shard) => changes({ shard, since: "0" }));
    const rows = (await Promise.all(shards)).flatMap(({ body }) => body.rows);
    const { documents, access } = rows.toSorted((one, other) => (one.id < other.id ? 1 : -1))[0];
    return { documents, access };
  };
  await gateway.request("PATCH", `/documents/${child}/`, { body: { title: "Other" } });
  expect(await lastRow()).toEqual({ documents: [child], access: [] });
  const link = { link_reach: "public", link_role: "reader" };
  await gateway.request("PUT", `/documents/${child}/link-configuration/`, { body: link });
  expect(await lastRow()).toEqual({ documents: [child], access: [child] });
  const move = { target_document_id: id, position: "right" };
  await gateway.request("POST", `/documents/${child}/move/`, { body: move });
  expect(await lastRow()).toMatchObject({ access: [child] });
  await gateway.request("DELETE", `/documents/${child}/`);
  expect((await lastRow()).access).toContain(child);
});

it("is only for the collaboration server", async () => {
  for (const ask of [changes({}, null), states([id], null)]) expect((await ask).status).toBe(401);
  const { token } = await createUser(test.deps, "ann");
  for (const ask of [changes({}, token), states([id], token)]) expect((await ask).status).toBe(403);
});

it.each([
  [{ counts: "1,2" }, "counts"],
  [{ counts: "x" }, "counts"],
  [{ shard: "g" }, "shard"],
  [{ since: "-1" }, "since"],
  [{ wait: "26" }, "wait"],
  [{ wait: "x" }, "wait"],
])("refuses %j by the field", async (query, field) => {
  const { status, body } = await changes(query as Record<string, string>);
  expect([status, Object.keys(body)]).toEqual([400, [field]]);
});

it.each([[[]], [Array(101).fill("a")], ["a"], [["x".repeat(201)]]])(
  "refuses the documents %.20j",
  async (documents) => {
    const { status, body } = await states(documents);
    expect([status, Object.keys(body)]).toEqual([400, ["documents"]]);
  },
);
