import { afterEach, expect, it } from "vitest";
import { route as documentRunsRoute } from "../../../functions/workflows/documents/runs.ts";
import { route } from "../../../functions/workflows/runs/chain.ts";
import { emitEvent } from "../../events/emit.ts";
import type { ScriptRequest } from "../../platform/scripts.ts";
import { type TestDeps, testDeps } from "../../testing/test-deps.ts";
import { call } from "../../testing/test-route-call.ts";
import { onTopic, readRuns, storeWorkflow } from "../../testing/test-workflows.ts";
import { rerunRun } from "../runs/rerun.ts";
import { retainRuns } from "../runs/retain.ts";
import { runNamesTable } from "../runs/table.ts";

let test: TestDeps;
afterEach(() => test.close());

const chain = async (id: string) => {
  const { status, body } = await call(test.deps, route, { method: "GET", params: { id } });
  expect(status).toBe(200);
  expect(() => route.response.parse(body)).not.toThrow();
  return body.data;
};
const documentRuns = async (id: string, query: Record<string, string> = {}) => {
  const { body } = await call(test.deps, documentRunsRoute, { method: "GET", params: { id }, query });
  return {
    total: body.pagination.total,
    runs: body.data.map(({ relation, run }: { relation: string; run: { workflow_name: string } }) => [
      relation,
      run.workflow_name,
    ]),
  };
};
const runOf = async (workflow: string) => {
  const run = (await readRuns(test.deps)).find(({ workflow_name }) => workflow_name === workflow);
  if (run === undefined) throw new Error(`no run of ${workflow}`);
  return run.run_id;
};

it("shows what started a run and what it started, through events and actions", async () => {
  test = await testDeps();
  await storeWorkflow(test.deps, onTopic("first", "custom.go"));
  await storeWorkflow(test.deps, onTopic("second", "run.completed"));
  await emitEvent(test.deps, { topic: "custom.go", data: {} });
  await test.drain();
  const [first, second] = [await runOf("first"), await runOf("second")];
  test.clock.advance(1_000);
  const again = (await rerunRun(test.deps, first, {})).run.run_id;

  expect(await chain(first)).toMatchObject({
    run: { run_id: first, cause: "event", trigger_name: "heard", event: { topic: "custom.go" } },
    ancestors: [],
    started: [
      { run_id: second, cause: "event", event: { topic: "run.completed" } },
      { run_id: again, cause: "rerun", event: null },
    ],
    documents: [],
    truncated: false,
  });
  const { root_cause, ancestors, started } = await chain(second);
  expect([ancestors.map(({ run_id }: { run_id: string }) => run_id), started]).toEqual([[first], []]);
  expect(root_cause).toBe((await chain(first)).root_cause);
  expect((await chain(again)).ancestors).toMatchObject([{ run_id: first }]);
  expect((await call(test.deps, route, { method: "GET", params: { id: "none" } })).status).toBe(404);
});

/** A script that creates a document, and starts a run of `child`. */
const script = async ({ callHost }: ScriptRequest) => {
  const ask = callHost as unknown as (of: string, query: object, signal: AbortSignal) => Promise<unknown>;
  const signal = AbortSignal.timeout(10_000);
  await ask("document", { of: "new document", title: "Report" }, signal);
  return { value: true };
};

it("links documents with the runs that wrote them and that their events triggered, until the runs are removed", async () => {
  test = await testDeps({ script, settings: { RUN_RETENTION: "1d" } });
  await storeWorkflow(
    test.deps,
    'name: writes\ntriggers: [{name: go, type: event, topic: custom.go}]\nsteps: [{name: s, type: function, function: "x()"}]',
  );
  await storeWorkflow(test.deps, onTopic("reads", "documents.created"));
  await emitEvent(test.deps, { topic: "custom.go", data: {} });
  await test.drain();
  const [writes, reads] = [await runOf("writes"), await runOf("reads")];
  const { documents, started } = await chain(writes);
  expect(documents).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/)]);
  expect(started).toMatchObject([{ run_id: reads, event: { topic: "documents.created" } }]);
  const [id = ""] = documents;
  const expected = await documentRuns(id);
  expect(expected.total).toBe(2);
  expect(expected.runs.toSorted()).toEqual([
    ["triggered", "reads"],
    ["wrote", "writes"],
  ]);
  expect((await documentRuns(id, { offset: "1", limit: "1" })).runs).toEqual(expected.runs.slice(1));
  expect((await documentRuns(crypto.randomUUID())).total).toBe(0);
  const invalid = await call(test.deps, documentRunsRoute, { method: "GET", params: { id: "x" } });
  expect([invalid.status, invalid.body.message]).toEqual([400, expect.stringContaining("id: ")]);

  test.clock.advance(3 * 86_400_000);
  await retainRuns(test.deps);
  const left = [`from#${writes}`, `documents#${writes}`, `document#${id}`].map((pk) =>
    test.deps.tables.query(runNamesTable, { pk }),
  );
  expect((await Promise.all(left)).flatMap(({ items }) => items)).toEqual([]);
});
