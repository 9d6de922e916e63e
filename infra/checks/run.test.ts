import { describe, expect, it } from "vitest";
import { type Outcome, PARTS, type Part, runChecks } from "./run.ts";

function part(name: string, outcome: Outcome | Error, ran: string[], telling?: true): Part {
  const run = async (): Promise<Outcome> => {
    ran.push(name);
    if (outcome instanceof Error) throw outcome;
    return outcome;
  };
  return { name, fix: `fix ${name}`, run, ...(telling === undefined ? {} : { verbose: telling }) };
}

const GOOD: Outcome = { ok: true, output: "up to date" };
const BAD: Outcome = { ok: false, output: "a.ts: wrong\nb.ts: wrong" };

async function check(names: string[], parts: (ran: string[]) => Part[]) {
  const ran: string[] = [];
  const lines: string[] = [];
  const code = await runChecks("/", names, parts(ran), (line) =>
    lines.push(line.replace(/\d+\.\ds/, "0.0s")),
  );
  return { code, ran, lines };
}

describe("runChecks", () => {
  it("prints one line per part when all pass", async () => {
    const { code, lines } = await check([], (ran) => [part("lint", GOOD, ran), part("types", GOOD, ran)]);

    expect(code).toBe(0);
    expect(lines).toEqual(["ok   lint 0.0s", "ok   types 0.0s"]);
  });

  it("prints the output of a failed part and the command that fixes it, and continues", async () => {
    const { code, lines, ran } = await check([], (ran) => [part("lint", BAD, ran), part("types", GOOD, ran)]);

    expect(code).toBe(1);
    expect(ran).toEqual(["lint", "types"]);
    expect(lines).toEqual([
      "FAIL lint 0.0s",
      "     a.ts: wrong\n     b.ts: wrong",
      "     fix: fix lint",
      "ok   types 0.0s",
    ]);
  });

  it("reports a part that throws as failed", async () => {
    const { code, lines } = await check([], (ran) => [part("lint", new Error("command not found"), ran)]);

    expect(code).toBe(1);
    expect(lines).toContain("     command not found");
  });

  it("runs only the named parts, and prints the output of verbose ones", async () => {
    const { code, lines, ran } = await check(["sizes"], (ran) => [
      part("lint", BAD, ran),
      part("sizes", GOOD, ran, true),
    ]);

    expect(code).toBe(0);
    expect(ran).toEqual(["sizes"]);
    expect(lines).toEqual(["ok   sizes 0.0s", "     up to date"]);
  });

  it("rejects an unknown name", async () => {
    const { code, lines, ran } = await check(["lnit"], (ran) => [part("lint", GOOD, ran)]);

    expect(code).toBe(2);
    expect(ran).toEqual([]);
    expect(lines).toEqual(["unknown part: lnit. Parts: lint"]);
  });

  it("has five parts, without the tests, which npm test runs", () => {
    expect(PARTS.map(({ name }) => name)).toEqual(["lint", "types", "imports", "conventions", "generated"]);
  });
});
