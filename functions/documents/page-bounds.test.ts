import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { base64, type Caller, type Owners, startOwners } from "#lib/testing/test-owners.ts";

const SLOW_MS = 20_000;

let owners: Owners;
let anna: Caller;
let id: string;
beforeAll(async () => {
  owners = await startOwners();
  ({ anna } = owners);
  id = (await anna.send("POST", "/documents/", { title: "Root" })).id;
  const at = `/documents/${id}`;
  for (let number = 0; number < 230; number += 10)
    await Promise.all(
      Array.from({ length: 10 }, (_, more) =>
        anna.send("POST", `${at}/children/`, { title: `Child ${number + more}` }),
      ),
    );
  for (let number = 0; number < 60; number += 1)
    await anna.send("PATCH", `${at}/content/`, { content: base64(`text ${number}`) });
  const thread = await anna.send("POST", `${at}/threads/`, { body: "text" });
  comments = `${at}/threads/${thread.id}/comments/`;
});
afterAll(() => owners[Symbol.asyncDispose]());
let comments: string;

const NUMBERED = () => [
  "/documents/",
  "/documents/all/",
  "/documents/favorite_list/",
  "/documents/trashbin/",
  `/documents/${id}/children/`,
  "/documents/search/?q=child",
  comments,
  `/documents/${id}/invitations/`,
  `/documents/${id}/ask-for-access/`,
];
const withQuery = (path: string, query: string) => `${path}${path.includes("?") ? "&" : "?"}${query}`;

describe("a page of a list", () => {
  it.each([
    "-1",
    "0",
    "1e9",
    "1000000000",
    "10001",
    "999999999999999999999",
    "NaN",
    "Infinity",
    "",
    "abc",
    "2.5",
    "0x10",
    "%00",
    "1%0a",
    "٣",
    "-0",
    "+5",
    "1,2",
    "[]",
    "null",
    "1e-9",
  ])("is never larger than two hundred, and comes soon, for a size of %s", async (size) => {
    for (const path of NUMBERED()) {
      const began = performance.now();
      const { status, json } = await anna.request("GET", withQuery(path, `page_size=${size}`));
      expect([path, status]).toEqual([path, 200]);
      const { results, count } = json as { results: unknown[]; count: number };
      expect(results.length, path).toBeLessThanOrEqual(200);
      expect(results.length, path).toBeLessThanOrEqual(count);
      expect(performance.now() - began).toBeLessThan(SLOW_MS);
    }
  });

  it.each([
    "0",
    "-1",
    "1e9",
    "999999999",
    "99999999999999999999",
    "NaN",
    "abc",
    "1.5",
    "%00",
    "last%00",
    "Infinity",
    "2147483648",
    "9007199254740993",
    "٣",
  ])("is not there, which is told soon, where it is the one of number %s", async (page) => {
    for (const path of NUMBERED())
      for (const size of ["1", "200", "1000000000"]) {
        const began = performance.now();
        const { status, json } = await anna.request("GET", withQuery(path, `page=${page}&page_size=${size}`));
        expect([path, status, json]).toEqual([path, 404, { detail: "Invalid page." }]);
        expect(performance.now() - began).toBeLessThan(SLOW_MS);
      }
  });

  it("contains each item exactly once from the first page to the last", async () => {
    const seen = new Set<string>();
    for (let path: string | null = `/documents/${id}/children/?page_size=1000000000`; path !== null; ) {
      const { results, next, count } = await anna.send("GET", path);
      expect(count).toBe(230);
      for (const one of results) seen.add(one.id);
      path = next === null ? null : next.slice(next.indexOf("/documents/"));
    }
    expect(seen.size).toBe(230);
  });

  it.each(["200", "201", "1000000000", "9999999999", "9".repeat(400)])(
    "is of two hundred for a size of %s",
    async (size) => {
      const { results } = await anna.send("GET", `/documents/${id}/children/?page_size=${size}`);
      expect(results).toHaveLength(200);
    },
  );

  it("ignores repeated parameters and those of other services", async () => {
    for (const query of [
      "page_size=1&page_size=1000000000",
      "page=1&page=2",
      "limit=10001",
      "limit=-1",
      "offset=1000000000",
      "page[]=1",
      "page_size[$gt]=1",
      "ordering=%00",
      "ordering=-created_at,,,",
      `ordering=${"title,".repeat(500)}`,
    ])
      for (const path of NUMBERED()) {
        const { status, json } = await anna.request("GET", withQuery(path, query));
        expect([200, 400, 404], `${path} ${query}`).toContain(status);
        if (status === 200) expect((json as { results: unknown[] }).results.length).toBeLessThanOrEqual(200);
      }
  });
});

describe("a page of versions", () => {
  it.each(["-1", "0", "51", "1000000000", "1e9", "NaN", "abc", "2.5", "99999999999999999999", "%00"])(
    "is not of a size of %s",
    async (size) => {
      const { status, json } = await anna.request("GET", `/documents/${id}/versions/?page_size=${size}`);
      expect([status, Object.keys(json as object)]).toEqual([400, ["page_size"]]);
    },
  );

  it.each(["0", "~", "zzzz", "%00", "-1", "x".repeat(1024), "11111111-1111-4111-8111-111111111111"])(
    "after a version that is none (%s) is one all the same, or refused",
    async (version) => {
      const { status, json } = await anna.request("GET", `/documents/${id}/versions/?version_id=${version}`);
      expect([200, 400]).toContain(status);
      if (status === 200) expect((json as { versions: unknown[] }).versions.length).toBeLessThanOrEqual(20);
    },
  );
});

describe("a list without pages", () => {
  it("has a maximum length", async () => {
    for (const path of [
      `/documents/${id}/accesses/`,
      `/documents/${id}/threads/`,
      "/users/?q=anna@example.com",
    ])
      for (const query of ["limit=-1", "limit=1000000000", "page_size=-1", "offset=1e9", "page=0"]) {
        const { status, json } = await anna.request("GET", withQuery(path, query));
        expect([path, status, Array.isArray(json)]).toEqual([path, 200, true]);
      }
    const { status, json } = await anna.request(
      "GET",
      `/documents/${id}/tree/?page_size=1000000000&depth=1e9`,
    );
    expect([status, (json as { children: unknown[] }).children.length]).toEqual([200, 230]);
  });

  it.each(["(a+)+$", "*a*a*a*a*b", "%25%25%25", "_".repeat(100), "a".repeat(254), "\\", "[", "%00"])(
    "of people or of titles is searched for %s in no time",
    async (q) => {
      for (const path of ["/users/", "/documents/search/", "/documents/"]) {
        const began = performance.now();
        const name = path === "/documents/" ? "title" : "q";
        const { status } = await anna.request("GET", `${path}?${name}=${encodeURIComponent(q)}`);
        expect([200, 400], path).toContain(status);
        expect(performance.now() - began).toBeLessThan(SLOW_MS);
      }
    },
  );

  it("rejects a query that is too long", async () => {
    for (const path of ["/users/?q=", "/documents/search/?q=", "/documents/?title="]) {
      const { status } = await anna.request("GET", `${path}${"a".repeat(10_000)}`);
      expect([200, 400, 431], path).toContain(status);
    }
  });
});
