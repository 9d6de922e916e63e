import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { route } from "../../../functions/workflows/runs/list.ts";
import { type TestDeps, testDeps } from "../../testing/test-deps.ts";
import { call } from "../../testing/test-route-call.ts";
import { storeWorkflow } from "../../testing/test-workflows.ts";
import { sweepLists } from "../records/index-lists.ts";
import { startBody, startRun } from "./start.ts";

const YAML = `name: scan
params: [{name: depth, default: "1"}, {name: note, default: ""}]
steps: [{name: s, type: bash, command: "scan {{Target}} {{depth}}"}]
`;

let test: TestDeps;
beforeEach(async () => {
  test = await testDeps({
    command: async ({ argv }) => ({ exitCode: argv.some((text) => text.includes("break")) ? 7 : 0 }),
  });
  await storeWorkflow(test.deps, YAML);
  await storeWorkflow(test.deps, "name: breaks\nsteps: [{name: s, type: bash, command: break}]");
});
afterEach(() => test.close());

const start = async (target: string, params: Record<string, string> = {}, module = "scan"): Promise<string> =>
  (await startRun(test.deps, startBody.parse({ module, target, params }))).run_id;

const list = async (query: Record<string, string>) => {
  const { status, body } = await call(test.deps, route, { method: "GET", query });
  const { data = [], pagination, message = "" } = body;
  const targets = data.map(({ target }: { target: string }) => target);
  return { status, targets, total: pagination?.total, message };
};

/** What each query finds must not depend on what the index contains by then. */
async function inEachState(expectAll: () => Promise<void>): Promise<void> {
  await expectAll();
  await sweepLists(test.deps);
  await expectAll();
  await test.drain();
  await expectAll();
}

describe("GET /runs", () => {
  it("filters by the values of params, exactly, in any state", async () => {
    const long = "n".repeat(900);
    await start("one", { depth: "3" });
    await start("two", { depth: "3", note: long });
    await start("three", { note: `${long}x`, "odd name.=": "A=b" });
    await inEachState(async () => {
      expect(await list({ "param.depth": "3" })).toMatchObject({ targets: ["two", "one"], total: 2 });
      expect(await list({ "param.depth": "1" })).toMatchObject({ targets: ["three"], total: 1 });
      expect(await list({ "param.depth": "3", "param.note": long })).toMatchObject({ targets: ["two"] });
      expect(await list({ "param.odd name.=": "A=b" })).toMatchObject({ targets: ["three"], total: 1 });
      expect(await list({ "param.odd name.=": "a=b" })).toMatchObject({ targets: [], total: 0 });
      expect(await list({ "param.depth": "3", limit: "1", offset: "1" })).toMatchObject({
        targets: ["one"],
        total: 2,
      });
      expect(await list({ "param.depth": "", target: "T" })).toMatchObject({ targets: ["three", "two"] });
    });
  });

  it("filters by the text of the error, which is not a text of the target", async () => {
    await start("bad exit code", {}, "breaks");
    await start("bad", {}, "breaks");
    await start("good exit");
    await test.drain();
    expect(await list({ error: "EXIT CODE 7" })).toMatchObject({
      targets: ["bad", "bad exit code"],
      total: 2,
    });
    expect(await list({ error: "exit", target: "code" })).toMatchObject({ targets: ["bad exit code"] });
    expect(await list({ target: "exit" })).toMatchObject({ targets: ["good exit", "bad exit code"] });
    expect(await list({ error: "good" })).toMatchObject({ targets: [], total: 0 });
    await sweepLists(test.deps);
    expect(await list({ error: "exit code 7" })).toMatchObject({ total: 2 });
  });

  it("filters by the time of the start, also of runs in progress that the index has since they waited", async () => {
    const from = (ms: number): string => new Date(test.clock.now() + ms).toISOString();
    const zero = from(0);
    await start("first");
    await test.drain();
    test.clock.advance(60_000);
    const minute = from(0);
    await start("second");
    await sweepLists(test.deps);
    const expectNow = async (targets: string[]): Promise<void> => {
      expect(await list({ started_after: minute })).toMatchObject({ targets, total: targets.length });
      expect(await list({ started_after: zero, started_before: minute })).toMatchObject({
        targets: ["first"],
        total: 1,
      });
      expect(await list({ started_before: minute, status: "running" })).toMatchObject({ targets: [] });
    };
    await expectNow([]);
    await test.drain(["bash"]);
    expect(await list({ status: "running" })).toMatchObject({ targets: ["second"] });
    await expectNow(["second"]);
    await test.drain();
    await expectNow(["second"]);
    expect(await list({ started_before: from(1) })).toMatchObject({ targets: ["second", "first"] });
  });

  it.each([
    [{ started_after: "soon" }, /^query\.started_after: must be a time/],
    [{ started_after: "2026-01-02", started_before: "2026-01-01" }, /^query\.started_before: must be later/],
    [{ "param.": "x" }, /^query\.param: the name of a param has/],
    [{ "param.depth": "x".repeat(1025) }, /^query\.param\.depth: /],
    [
      Object.fromEntries(Array.from({ length: 11 }, (_, at) => [`param.p${at}`, "x"])),
      /^query\.param: at most 10/,
    ],
  ])("refuses %j", async (query, message) => {
    expect(await list(query as Record<string, string>)).toMatchObject({
      status: 400,
      message: expect.stringMatching(message),
    });
  });
});
