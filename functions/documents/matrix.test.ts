import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { createFixtures, type DocumentFixtures } from "#lib/testing/test-document-fixtures.ts";
import { findRowIssues, type RegisteredRoute, registeredRoutes, rowName } from "#lib/testing/test-matrix.ts";
import { ENDPOINT_ROWS } from "#lib/testing/test-permissions.ts";

let test: TestDeps;
let fixtures: DocumentFixtures;
let routes: ReadonlyMap<string, RegisteredRoute>;
beforeAll(async () => {
  test = await testDeps({
    converter: {
      convert: async ({ to }) => ({ ok: true, value: to === "yjs" ? new Uint8Array([0, 0]) : "[]" }),
    },
  });
  fixtures = await createFixtures(test);
  routes = await registeredRoutes();
});
afterAll(() => test.close());

describe("the permission table", () => {
  it("contains exactly the endpoints of a document, and search", () => {
    const ofDocuments = [...routes.keys()].filter((name) => /^\w+ \/documents\/(\{|search$)/.test(name));
    expect(ofDocuments.length).toBeGreaterThan(40);
    expect([...new Set(ENDPOINT_ROWS.map(({ endpoint }) => endpoint))].toSorted()).toEqual(
      ofDocuments.toSorted(),
    );
  });

  it.each(ENDPOINT_ROWS.map((row) => [rowName(row), row] as const))(
    "equals the responses to every caller in every situation: %s",
    async (_name, row) => {
      expect(await findRowIssues(test, routes, row, fixtures)).toEqual([]);
    },
  );
});
