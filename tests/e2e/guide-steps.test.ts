import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, type TestServer, waitUntil } from "../../lib/testing/test-server.ts";
import { parseDefinition } from "../../lib/workflows/schema/parse.ts";
import { lintDefinition } from "../../lib/workflows/uploads/lint.ts";

let weft: TestServer;
beforeAll(async () => {
  weft = await startTestServer();
});
afterAll(() => weft[Symbol.asyncDispose]());

async function examplesOf(guide: string): Promise<readonly string[]> {
  const text = await readFile(new URL(`../../docs/${guide}.md`, import.meta.url), "utf8");
  return [...text.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, yaml = ""]) => yaml);
}

/** Stores the workflows of a guide. Returns their names. */
async function store(guide: string): Promise<readonly string[]> {
  const names: string[] = [];
  for (const yaml of await examplesOf(guide)) {
    const parsed = parseDefinition(yaml, {});
    expect(parsed).toMatchObject({ ok: true, warnings: [] });
    if (parsed.ok) expect(lintDefinition(parsed.definition)).toEqual([]);
    names.push((await weft.storeWorkflow(yaml)).name);
  }
  return names;
}

async function outputs(module: string, body: Readonly<Record<string, unknown>> = {}) {
  const run = await weft.run({ module, target: "a.example", workspace: crypto.randomUUID(), ...body });
  expect([run.status, run.error_message]).toEqual(["completed", ""]);
  const steps = Object.values(await weft.steps(run.run_id));
  return Object.fromEntries(steps.map(({ step_name, output }) => [step_name, output]));
}

describe("the guide to bash steps", () => {
  test("counts words with arguments, files and lists of commands", async () => {
    expect(await store("steps/bash")).toEqual(["count-words", "fetch-politely", "any-target"]);
    expect(await outputs("count-words", { workspace: "words" })).toEqual({
      split: "8",
      rank: "the\nand",
      tell: "8 words, most often the and",
    });
    const kept = await readFile(join(weft.dataDir, "workspaces", "words", "results", "most.txt"), "utf8");
    expect(kept).toBe("the\nand");
  });

  test("joins arguments, keeps the order of parallel commands, and tolerates a failure", async () => {
    expect(await outputs("fetch-politely")).toEqual({
      arguments: "--rate 3 --list a.example",
      both: "first\nsecond",
      "might-fail": "",
      end: "first\nsecond\ncommand failed with exit code 1",
    });
  });

  test("passes any target unchanged", async () => {
    const target = `$(touch ran) "b" 'c' ; ls`;
    const { show = "" } = await outputs("any-target", { target, workspace: "any" });
    expect(show.split("\n").slice(0, 3)).toEqual([`<${target}>`, `<${target}>`, `<said ${target}>`]);
    expect(show.split("\n").slice(3)).toEqual(["<$(touch>", "<ran)>", '<"b">', "<'c'>", "<;>", "<ls>"]);
    await expect(readFile(join(weft.dataDir, "workspaces", "any", "ran"))).rejects.toThrow("ENOENT");
  });
});

describe("the guide to foreach steps", () => {
  test("iterates over the lines of a file with their numbers", async () => {
    expect(await store("steps/foreach")).toEqual(["greet-all", "tidy-addresses"]);
    expect(await outputs("greet-all")).toEqual({
      guests: "",
      greet: "1. Hello, Ada\n2. Hello, Bo\n3. Hello, Cleo; rm -rf x",
      letter: "3",
    });
  });

  test("nests lists, prepares items, streams outputs, and continues after a failure", async () => {
    const { show, ports, "try-all": tried } = await outputs("tidy-addresses");
    const pairs = "a.example:80\na.example:443\nb.example:80\nb.example:443";
    expect([ports, tried]).toEqual([pairs, "\n\n"]);
    expect(show).toBe(`a.example\nb.example\n${pairs}`);
  });
});

test("the guide to parallel-steps: later steps see their exports, and one may fail", async () => {
  expect(await store("steps/parallel-steps")).toEqual(["look-around", "best-of-two"]);
  const around = await outputs("look-around");
  expect(around["look"]).toBe("9\nA.EXAMPLE\na.example-1\na.example-2");
  expect(around["tell"]).toBe("9\nA.EXAMPLE\na.example-1\na.example-2");
  expect((await outputs("best-of-two"))["use"]).toBe("nothing, from the second");
});

test("the first guide's workflow greets the visitor of an event", async () => {
  expect(await store("workflows")).toEqual(["greet", "wide-scan", "look-again"]);
  const { triggered_workflows } = await weft.emit({ topic: "custom.visitor", data: { visitor: "Ada; ls" } });
  expect(triggered_workflows).toEqual(["greet"]);
  const greeted = await waitUntil(
    "the greeting",
    async () => (await weft.events({ topic: "custom.greeted" }))[0],
  );
  expect(JSON.parse(greeted.data)).toEqual({ text: "Hello, Ada; ls\nHallo, Ada; ls" });
  expect(await outputs("wide-scan")).toEqual({ show: "at 50 a time 0 25s" });
  expect((await outputs("look-again"))["look"]).toMatch(/\d\d:\d\d:\d\d/);
});
