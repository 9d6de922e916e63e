import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { relationKey, relationsTable } from "#lib/documents/tables/accesses.ts";
import { versionsTable } from "#lib/documents/tables/versions.ts";
import { createToken } from "#lib/documents/users/tokens.ts";
import { TEST_TOKEN, type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { call } from "#lib/testing/test-route-call.ts";
import { route as patch } from "../content/patch.ts";
import { route as create } from "../documents/create.ts";
import { route as remove } from "../documents/delete.ts";
import { route as deleteVersion } from "./delete.ts";
import { route as getVersion } from "./get.ts";
import { route as list } from "./list.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

let test: TestDeps;
let id: string;
let other: { token: string; user: string };
beforeEach(async () => {
  test = await testDeps();
  id = (await call(test.deps, create, { body: {} })).body.id;
  const { token, record } = await createToken(test.deps, { email: "other@example.com" });
  other = { token, user: record.user };
});
afterEach(() => test.close());

type Who = string | null;
const base64 = (text: string): string => Buffer.from(text).toString("base64");
const save = (text: string, to = id) =>
  call(test.deps, patch, { params: { id: to }, body: { content: base64(text) } });
const versions = (query: Record<string, string> = {}, token: Who = TEST_TOKEN) =>
  call(test.deps, list, { params: { id }, query, token });
const one = (versionId: string, token: Who = TEST_TOKEN, of = id) =>
  call(test.deps, getVersion, { params: { id: of, versionId }, token });
const drop = (versionId: string, token: Who = TEST_TOKEN, of = id) =>
  call(test.deps, deleteVersion, { params: { id: of, versionId }, token });
const ids = (page: { versions: { version_id: string }[] }): string[] =>
  page.versions.map(({ version_id }) => version_id);
const all = async (): Promise<string[]> => {
  const { items } = await test.deps.tables.query(versionsTable, { pk: id });
  return items.map(({ last_modified }) => last_modified);
};
const share = (role: "reader" | "administrator") =>
  test.deps.tables.write([
    {
      op: "update",
      table: relationsTable,
      key: relationKey(other.user, id),
      change: { set: { document: id, role, since: new Date(test.clock.now()).toISOString() } },
    },
  ]);

describe("versions of a document", () => {
  it("are all saves except the latest, latest first", async () => {
    expect((await versions()).body).toEqual({
      next_version_id_marker: "",
      is_truncated: false,
      versions: [],
      count: 0,
    });
    for (const text of ["one", "two", "three"]) {
      await save(text);
      test.clock.advance(1_000);
    }
    const { body } = await versions();
    expect(body).toMatchObject({ next_version_id_marker: "", is_truncated: false, count: 2 });
    expect(body.versions).toMatchObject([
      {
        is_latest: false,
        last_modified: "2026-03-02T10:00:01.000Z",
        etag: expect.stringMatching(/^"\w{32}"$/),
      },
      { last_modified: "2026-03-02T10:00:00.000Z" },
    ]);
    const texts = [];
    for (const version of ids(body)) {
      const { body: found } = await one(version);
      expect(Object.keys(found).toSorted()).toEqual(["content", "id", "last_modified"]);
      expect(found.id).toBe(version);
      texts.push(Buffer.from(found.content, "base64").toString());
    }
    expect(texts).toEqual(["two", "one"]);
  });

  it("are paginated with at most fifty per page", async () => {
    for (let at = 0; at < 6; at += 1) await save(`${at}`);
    const { body: first } = await versions({ page_size: "2" });
    expect(first).toMatchObject({ is_truncated: true, count: 2, next_version_id_marker: ids(first)[1] });
    const { body: second } = await versions({ page_size: "2", version_id: first.next_version_id_marker });
    const { body: last } = await versions({ page_size: "2", version_id: second.next_version_id_marker });
    expect(last).toMatchObject({ is_truncated: false, count: 1, next_version_id_marker: "" });
    expect(new Set([...ids(first), ...ids(second), ...ids(last)]).size).toBe(5);
    expect((await versions({ version_id: "~" })).body.count).toBe(5);
    expect((await versions({ version_id: "+" })).body.count).toBe(0);
    const faults = {
      "51": "Ensure this value is less than or equal to 50.",
      "0": "Ensure this value is greater than or equal to 1.",
      "-1": "Ensure this value is greater than or equal to 1.",
      "100000000": "Ensure this value is less than or equal to 50.",
      "1e9": "A valid integer is required.",
      "2.5": "A valid integer is required.",
      NaN: "A valid integer is required.",
    };
    for (const [page_size, message] of Object.entries(faults))
      expect(await versions({ page_size }), page_size).toEqual({
        status: 400,
        body: { page_size: [message] },
      });
  });

  it("are visible only to members, from the time of their access on", async () => {
    await save("before");
    await save("before, too");
    const [early] = ids((await versions()).body);
    test.clock.advance(1_000);
    expect(await versions({}, null)).toEqual({ status: 403, body: { detail: "Authentication required." } });
    expect((await versions({}, other.token)).status).toBe(403);
    await share("reader");
    expect((await versions({}, other.token)).body.count).toBe(0);
    await save("after");
    await save("after, too");
    const { body } = await versions({}, other.token);
    expect(body).toMatchObject({ count: 1, is_truncated: false });
    expect((await one(ids(body)[0] ?? "", other.token)).body.content).toBe(base64("after"));
    expect((await one(early ?? "", other.token)).status).toBe(404);
    expect((await one(early ?? "", null)).status).toBe(401);
    expect((await drop(ids(body)[0] ?? "", other.token)).status).toBe(403);
    await share("administrator");
    expect((await drop(early ?? "", other.token)).status).toBe(404);
  });

  it("of another document return 404, as do unknown ones", async () => {
    const elsewhere = (await call(test.deps, create, { body: {} })).body.id;
    await save("one");
    await save("two");
    await save("x", elsewhere);
    await save("y", elsewhere);
    const [version] = ids((await versions()).body);
    for (const wrong of ["nonsense", "a/b", "..", "x".repeat(1_100), `${version}0`]) {
      expect((await one(wrong)).status).toBe(404);
      expect((await drop(wrong)).status).toBe(404);
    }
    expect((await one(version ?? "", TEST_TOKEN, elsewhere)).status).toBe(404);
    expect((await drop(version ?? "", TEST_TOKEN, elsewhere)).status).toBe(404);
    await call(test.deps, remove, { params: { id } });
    expect([(await versions()).status, (await one(version ?? "")).status]).toEqual([403, 403]);
  });

  it("are permanently deleted, except the latest", async () => {
    await save("one");
    await save("two");
    const [version] = ids((await versions()).body);
    expect(await drop(version ?? "")).toEqual({ status: 204, body: undefined });
    expect([(await one(version ?? "")).status, (await drop(version ?? "")).status]).toEqual([404, 404]);
    const blobs = await test.deps.blobs.list(`documents/${id}/`);
    expect(blobs).toHaveLength(1);
    const latest = blobs[0]?.split("/").at(-1) ?? "";
    expect((await one(latest)).body.content).toBe(base64("two"));
    expect((await drop(latest)).status).toBe(400);
    expect((await one(latest)).status).toBe(200);
  });
});

describe("old versions", () => {
  it("are thinned: all of an hour, one per ten minutes for a day, one per day for a month, then one per week", async () => {
    const start = test.clock.now();
    for (let minute = 0; minute < 3 * 60; minute += 2) {
      await save(`minute ${minute}`);
      test.clock.advance(2 * MINUTE_MS);
    }
    const ages = (await all()).map((at) => (test.clock.now() - Date.parse(at)) / MINUTE_MS);
    expect(ages.filter((age) => age <= 60)).toHaveLength(30);
    const spans = ages.filter((age) => age > 70);
    expect(spans.length).toBeGreaterThanOrEqual(11);
    expect(spans.length).toBeLessThanOrEqual(14);
    // Months later, a few saves check all remaining versions.
    test.clock.advance(40 * DAY_MS);
    for (let at = 0; at < 8; at += 1) await save(`later ${at}`);
    const left = (await all()).filter((at) => Date.parse(at) < start + DAY_MS);
    expect(left).toHaveLength(1);
    // The last of its week remains; every version has its blob, and no other blobs exist.
    expect(left[0]).toBe(new Date(start + (3 * 60 - 2) * MINUTE_MS).toISOString());
    expect(await test.deps.blobs.list(`documents/${id}/`)).toHaveLength((await all()).length);
  });

  it("continue to be thinned over weeks, one per day", async () => {
    for (let hour = 0; hour < 10 * 24; hour += 4) {
      await save(`hour ${hour}`);
      test.clock.advance(4 * HOUR_MS);
    }
    for (let at = 0; at < 4; at += 1) await save(`${at}`);
    const days = (await all()).slice(0, -11).map((at) => at.slice(0, 10));
    expect(days.length).toBeGreaterThanOrEqual(7);
    expect(new Set(days).size).toBe(days.length);
  });
});

describe("blobs without a version", () => {
  it("are deleted by the next update event at least an hour later", async () => {
    await save("kept");
    const orphan = `documents/${id}/${test.deps.ids.ordered()}`;
    await test.deps.blobs.put(orphan, "left behind");
    test.clock.advance(MINUTE_MS);
    await test.tick();
    expect(await test.deps.blobs.list(`documents/${id}/`)).toContain(orphan);
    test.clock.advance(2 * HOUR_MS);
    await save("again");
    test.clock.advance(MINUTE_MS);
    await test.tick();
    expect(await test.deps.blobs.list(`documents/${id}/`)).not.toContain(orphan);
    expect(await test.deps.blobs.list(`documents/${id}/`)).toHaveLength(2);
  });
});
