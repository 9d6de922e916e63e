import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { faultsOf, type Registered, registeredRoutes, rowName } from "#lib/testing/test-matrix.ts";
import { SHARING_ROWS } from "#lib/testing/test-rows-sharing.ts";
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

describe("who may do what with the accesses of a document", () => {
  for (const row of SHARING_ROWS)
    it(`is as the table says: ${rowName(row)}`, async () => {
      expect(await faultsOf(test, routes, row, stage)).toEqual([]);
    });
});
