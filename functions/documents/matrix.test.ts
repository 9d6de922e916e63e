import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { faultsOf, type Registered, registeredRoutes, rowName } from "#lib/testing/test-matrix.ts";
import { CONTENT_ROWS } from "#lib/testing/test-rows-content.ts";
import { DOCUMENT_ROWS } from "#lib/testing/test-rows-documents.ts";
import { SHARING_ROWS } from "#lib/testing/test-rows-sharing.ts";
import { THREAD_ROWS } from "#lib/testing/test-rows-threads.ts";
import { type Stage, setStage } from "#lib/testing/test-stage.ts";

let test: TestDeps;
let stage: Stage;
let routes: ReadonlyMap<string, Registered>;
beforeAll(async () => {
  test = await testDeps();
  stage = await setStage(test);
  routes = await registeredRoutes();
});
afterAll(() => test.close());

describe("the table of who may do what", () => {
  it("has every endpoint of a document, and no other", () => {
    const rows = [...DOCUMENT_ROWS, ...CONTENT_ROWS, ...SHARING_ROWS, ...THREAD_ROWS];
    const ofDocuments = [...routes.keys()].filter((name) => /^\w+ \/documents\/\{/.test(name));
    expect(ofDocuments.length).toBeGreaterThan(40);
    expect([...new Set(rows.map(({ endpoint }) => endpoint))].toSorted()).toEqual(ofDocuments.toSorted());
  });
});

describe("who may do what with a document", () => {
  for (const row of DOCUMENT_ROWS)
    it(`is as the table says: ${rowName(row)}`, async () => {
      expect(await faultsOf(test, routes, row, stage)).toEqual([]);
    });
});
