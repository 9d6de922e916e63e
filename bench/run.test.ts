import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { type BenchmarkResult, judgeFigures } from "./harness/benchmark.ts";
import { STEPS_TABLE_BENCHMARKS, stepsTable } from "./harness/steps-table.ts";
import { benchmarkNames, mergeResults, withoutDetails } from "./run.ts";

const result = (name: string, value: number): BenchmarkResult => ({
  name,
  value,
  what: name,
  unit: "ms",
  target: undefined,
  peer: "-",
  baseline: {},
  met: true,
  figures: [],
  brief: false,
  load: 0,
  busy_cores: 0,
  at: "",
  node: "",
});

it("the README lists every benchmark", () => {
  const readme = readFileSync(new URL("README.md", import.meta.url), "utf8");
  expect(benchmarkNames()).toContain("emits");
  for (const name of benchmarkNames()) expect(readme).toContain(`| \`${name}\` |`);
});

it("new results replace older ones of the same name and have no details", () => {
  const old = [result("b", 1), result("a", 1)];
  const now = [withoutDetails({ ...result("b", 2), rounds_ms: [1, 2] })];
  expect(mergeResults(old, now)).toEqual([result("a", 1), result("b", 2)]);
});

it("a figure is compared with its target as a maximum or a minimum", () => {
  expect(judgeFigures({ what: "", value: 2.00001, unit: "x", target: 2 })).toMatchObject({
    value: 2,
    met: true,
  });
  expect(judgeFigures({ what: "", value: 8_999, unit: "/s", target: 9_000, atLeast: true }).met).toBe(false);
  expect(judgeFigures({ what: "", value: 1, unit: "x" })).not.toHaveProperty("met");
});

it("the table of a step shows figures next to earlier ones, and what is missing", () => {
  expect(benchmarkNames()).toEqual(expect.arrayContaining([...STEPS_TABLE_BENCHMARKS]));
  const figures = [
    { what: "1 connection: acknowledged", value: 2_400, unit: "/s" },
    { what: "1 connection: CPU a request until acknowledged", value: 250, unit: "us" },
  ];
  const baseline = { echo_per_second: 31_270 };
  const at = "2026-11-24T10:00:00.000Z";
  const lines = stepsTable([{ ...result("emits", 1), at, baseline, figures }]).split("\n");
  const when = "echo of HTTP: 62540, 31270 /s | 2026-11-24, 0 cores busy before";
  expect(lines).toContain(`| emit at 1 connection, recorded | 1044 | 2500 | 2400 /s | **no** | ${when} |`);
  expect(lines).toContain(`| emit at 1 connection, CPU | 661 | 250 | 250 us | yes | ${when} |`);
  expect(lines).toContain("| 50 runs at once | 149.1 | no worse | not measured |  |  |  |");
});
