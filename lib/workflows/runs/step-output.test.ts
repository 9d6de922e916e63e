import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { handler } from "../../../functions/workflows/runs/output.ts";
import { handler as steps } from "../../../functions/workflows/runs/steps.ts";
import { type TestDeps, testDeps } from "../../testing/test-deps.ts";
import { call } from "../../testing/test-handler-call.ts";
import { storeWorkflow } from "../../testing/test-workflows.ts";
import { startBody, startRun } from "./start.ts";

const WORKFLOW = `
name: outputs
steps:
  - {name: say, type: bash, commands: ["first {{target}}", "second"]}
  - {name: loop, type: foreach, input: [a, b], variable: v, step: {name: one, type: bash, command: "item [[v]]"}}
  - {name: value, type: function, function: "f()"}
  - {name: bad, type: bash, command: "bad {{target}}"}
`;
const LONG = "é".repeat(30_000);

let test: TestDeps;
beforeEach(async () => {
  test = await testDeps({
    settings: { WEFT_SECRET_KEY: "s3cret-value" },
    command: async ({ argv }) => {
      const text = argv.at(-1) ?? "";
      return text.includes("bad") ? { exitCode: 1, stdout: "half" } : { stdout: `${text.split(" ")[0]}\n` };
    },
    script: async () => ({ value: LONG }),
  });
  await storeWorkflow(test.deps, WORKFLOW);
});
afterEach(() => test.close());

async function ran(): Promise<string> {
  const { run_id } = await startRun(test.deps, startBody.parse({ module: "outputs", target: "t" }));
  await test.drain();
  return run_id;
}

const read = async (id: string, query: Record<string, string>) => {
  const { status, json } = await call(test.deps, handler, { params: { id }, query });
  return { status, json: json as Record<string, unknown> };
};

describe("GET /runs/{id}/output", () => {
  it("returns what all commands of a step printed, of items too, and of failed steps", async () => {
    const id = await ran();
    expect((await read(id, { step: "say" })).json).toMatchObject({
      output: "first\nsecond\n",
      attempt: 1,
      attempts: 1,
      offset: 0,
      next_offset: 13,
      size: 13,
      is_complete: true,
      status: "failed",
    });
    expect((await read(id, { step: "say", offset: "6" })).json).toMatchObject({
      output: "second\n",
      offset: 6,
    });
    expect((await read(id, { step: "say", tail: "1" })).json).toMatchObject({
      output: "second\n",
      offset: 6,
    });
    expect((await read(id, { step: "say", stream: "stderr" })).json).toMatchObject({ output: "", size: 0 });
    expect((await read(id, { step: "one#1" })).json).toMatchObject({ output: "item\n" });
    expect((await read(id, { step: "bad" })).json).toMatchObject({ output: "half" });
  });

  it("returns the whole value of a step without commands", async () => {
    const { json } = await read(await ran(), { step: "value" });
    expect(json).toMatchObject({ output: LONG, size: 60_000, is_complete: true });
  });

  it("returns long outputs in parts, and no part of a secret", async () => {
    const id = await ran();
    const text = `${"x".repeat(1024 * 1024 - 5)}s3cret-value and more\nend\n`;
    const folder = join(test.deps.paths.logsDir, id);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "say.1.0.out"), text);
    const secrets = {
      ...test.deps.secrets,
      redact: (found: string) => found.replaceAll("s3cret-value", "***"),
    };
    const deps = { ...test.deps, secrets };
    const part = async (offset: number) => {
      const query = { step: "say", offset: String(offset) };
      const { json } = await call(deps, handler, { params: { id }, query });
      return json as { output: string; next_offset: number; offset: number };
    };
    const first = await part(0);
    const second = await part(first.next_offset);
    expect(first.output).toMatch(/^x+$/);
    expect(second.output).toMatch(/^x*\*\*\* and more\nend\nsecond\n$/);
    expect((await part(1024 * 1024)).output).not.toContain("t-value");
  });

  it("reports invalid parameters and unknown steps", async () => {
    const id = await ran();
    expect((await read(id, { step: "nope" })).status).toBe(404);
    expect((await read(id, {})).status).toBe(400);
    expect((await read(id, { step: "say", attempt: "100000" })).status).toBe(400);
    expect((await read(id, { step: "say", tail: "1", offset: "1" })).status).toBe(400);
    expect((await read("unknown", { step: "say" })).status).toBe(404);
    expect((await read(id, { step: "../../etc/passwd" })).status).toBe(404);
  });
});

describe("GET /runs/{id}/steps?step=", () => {
  it("returns one step with its command and environment, also if it failed", async () => {
    const id = await ran();
    const { json } = await call(test.deps, steps, { params: { id }, query: { step: "bad" } });
    expect(json).toMatchObject({
      data: [
        {
          step_name: "bad",
          status: "failed",
          command: "bad t",
          log_file: "bad.1.0.out",
          environment: { WEFT_STEP: "bad", WEFT_ATTEMPT: "1", WEFT_HOP: "***" },
        },
      ],
    });
  });
});
