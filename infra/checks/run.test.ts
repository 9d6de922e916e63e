import { describe, expect, it } from "vitest";
import { type Outcome, PARTS, type Part, runChecks } from "./run.ts";

function part(name: string, outcome: Outcome | Error, ran: string[], telling?: true): Part {
  const run = async (): Promise<Outcome> => {
    ran.push(name);
    if (outcome instanceof Error) throw outcome;
    return outcome;
  };
  return { name, fix: `mend ${name}`, run, ...(telling === undefined ? {} : { telling }) };
}

const GOOD: Outcome = { ok: true, output: "all well" };
const BAD: Outcome = { ok: false, output: "a.ts: wrong\nb.ts: wrong" };

async function check(names: string[], parts: (ran: string[]) => Part[]) {
  const ran: string[] = [];
  const lines: string[] = [];
  const code = await runChecks("/", names, parts(ran), (line) =>
    lines.push(line.replace(/\d+\.\ds/, "0.0s")),
  );
  return { code, ran, lines };
}

describe("the check", () => {
  it("says a short line a part and no more when all hold", async () => {
    const { code, lines } = await check([], (ran) => [part("lint", GOOD, ran), part("types", GOOD, ran)]);

    expect(code).toBe(0);
    expect(lines).toEqual(["ok   lint 0.0s", "ok   types 0.0s"]);
  });

  it("shows what failed and the command that mends it, and goes on", async () => {
    const { code, lines, ran } = await check([], (ran) => [part("lint", BAD, ran), part("types", GOOD, ran)]);

    expect(code).toBe(1);
    expect(ran).toEqual(["lint", "types"]);
    expect(lines).toEqual([
      "FAIL lint 0.0s",
      "     a.ts: wrong\n     b.ts: wrong",
      "     mend: mend lint",
      "ok   types 0.0s",
    ]);
  });

  it("counts a part that throws as failed", async () => {
    const { code, lines } = await check([], (ran) => [part("lint", new Error("no such program"), ran)]);

    expect(code).toBe(1);
    expect(lines).toContain("     no such program");
  });

  it("runs the parts that are named alone, and prints those that have something to tell", async () => {
    const { code, lines, ran } = await check(["sizes"], (ran) => [
      part("lint", BAD, ran),
      part("sizes", GOOD, ran, true),
    ]);

    expect(code).toBe(0);
    expect(ran).toEqual(["sizes"]);
    expect(lines).toEqual(["ok   sizes 0.0s", "     all well"]);
  });

  it("refuses a name that is no part", async () => {
    const { code, lines, ran } = await check(["lnit"], (ran) => [part("lint", GOOD, ran)]);

    expect(code).toBe(2);
    expect(ran).toEqual([]);
    expect(lines).toEqual(["no such part: lnit. There are: lint"]);
  });

  it("has five parts, without the tests, which npm test runs", () => {
    expect(PARTS.map(({ name }) => name)).toEqual(["lint", "types", "imports", "house", "generated"]);
  });
});
