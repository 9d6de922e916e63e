import { afterEach, beforeEach, expect, it } from "vitest";
import { handler as get } from "../../../functions/workflows/workflows/get.ts";
import { handler } from "../../../functions/workflows/workflows/revisions.ts";
import { type TestDeps, testDeps } from "../../testing/test-deps.ts";
import { call } from "../../testing/test-handler-call.ts";
import { storeWorkflow } from "../../testing/test-workflows.ts";

const yaml = (step: string): string => `name: m\nsteps: [{name: ${step}, type: bash, command: echo}]\n`;

let test: TestDeps;
beforeEach(async () => {
  test = await testDeps();
  for (const step of ["one", "two", "three"]) await storeWorkflow(test.deps, yaml(step));
});
afterEach(() => test.close());

it("lists the revisions of a workflow, newest first, in pages", async () => {
  const list = async (query: Record<string, string>) =>
    (await call(test.deps, handler, { params: { name: "m" }, query })).json as {
      data: { revision: number }[];
      pagination: unknown;
    };
  const all = await list({});
  expect(all.data.map(({ revision }) => revision)).toEqual([3, 2, 1]);
  expect(all.data[0]).toMatchObject({ name: "m", checksum: expect.stringMatching(/^[\da-f]{64}$/) });
  const page = await list({ offset: "1", limit: "1" });
  expect(page).toMatchObject({ data: [{ revision: 2 }], pagination: { total: 3, offset: 1, limit: 1 } });
  expect((await list({ offset: "5" })).data).toEqual([]);
});

it("returns the text of a revision", async () => {
  const read = (query: Record<string, string>) => call(test.deps, get, { params: { name: "m" }, query });
  expect((await read({ revision: "2" })).json).toMatchObject({ data: { revision: 3, yaml: yaml("two") } });
  expect((await read({})).json).toMatchObject({ data: { yaml: yaml("three") } });
  expect((await read({ revision: "9" })).status).toBe(404);
  expect((await read({ revision: "0" })).status).toBe(400);
});
