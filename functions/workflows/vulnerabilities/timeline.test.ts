import { afterEach, beforeEach, expect, it } from "vitest";
import { type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { call } from "#lib/testing/test-route-call.ts";
import * as create from "./create.ts";
import * as timeline from "./timeline.ts";

const DAY_MS = 24 * 3_600_000;

let test: TestDeps;
beforeEach(async () => {
  test = await testDeps();
});
afterEach(() => test.close());

const found = (workspace: string, severity: string, vuln_title: string) =>
  call(test.deps, create.route, { body: { workspace, severity, vuln_title, asset_value: "a" } });
const read = async (query: Record<string, string>) =>
  (await call(test.deps, timeline.route, { query })).body.data;

it("counts what was found on each day by severity, in one workspace or in all", async () => {
  await found("w", "high", "before");
  test.clock.advance(3 * DAY_MS);
  await found("w", "high", "one");
  await found("w", "high", "two");
  await found("v", "odd", "three");
  test.clock.advance(DAY_MS);
  await found("w", "critical", "four");
  const all = await read({ days: "3" });
  expect(all.days.map(({ by_severity }: { by_severity: object }) => by_severity)).toEqual([
    {},
    { high: 2, other: 1 },
    { critical: 1 },
  ]);
  expect(all.days.at(-1).date).toBe(new Date(test.clock.now()).toISOString().slice(0, 10));
  expect((await read({ days: "2", workspace: "v" })).days[0].by_severity).toEqual({ other: 1 });
  expect((await read({})).days).toHaveLength(30);
  expect((await read({ days: "1000000" })).days).toHaveLength(366);
  expect(await call(test.deps, timeline.route, { query: { days: "x" } })).toMatchObject({ status: 400 });
});
