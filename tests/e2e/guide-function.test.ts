import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../lib/testing/test-server.ts";
import { parseDefinition } from "../../lib/workflows/schema/parse.ts";

let weft: TestServer;
let guide: string;
beforeAll(async () => {
  guide = await readFile(new URL("../../docs/steps/function.md", import.meta.url), "utf8");
  weft = await startTestServer();
});
afterAll(() => weft[Symbol.asyncDispose]());

const examples = (language: string): string[] =>
  [...guide.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm"))].map(
    ([, text = ""]) => text,
  );

async function run(yaml: string, body: Record<string, unknown> = {}) {
  expect(parseDefinition(yaml)).toMatchObject({ ok: true, warnings: [] });
  await weft.storeWorkflow(yaml);
  const [, name = ""] = /^name: (\S+)$/m.exec(yaml) ?? [];
  const ended = await weft.run({ module: name, ...body });
  return { ...ended, steps: await weft.steps(ended.run_id) };
}

test("the guide's first example writes its report", async () => {
  const { status, steps } = await run(examples("yaml")[0]!);
  expect(status).toBe("completed");
  expect(steps["count"]?.output).toBe("2");
  expect(steps["hosts"]?.exports).toMatchObject({ first_host: "a.example.com" });
  expect(steps["told"]?.output).toBe(
    "| host | first |\n| --- | --- |\n| a.example.com | true |\n| b.example.com | false |\n",
  );
});

test("skip() skips the following steps", async () => {
  const [, yaml = ""] = examples("yaml");
  const skipped = await run(yaml);
  expect([skipped.status, skipped.steps["look"]?.status, skipped.steps["look"]?.output]).toEqual([
    "completed",
    "completed",
    "no hosts",
  ]);
  expect(skipped.steps["scan"]?.status ?? "skipped").toBe("skipped");
  const done = await run(yaml, { params: { hosts: "a\nb" } });
  expect([done.status, done.steps["scan"]?.output]).toEqual(["completed", "a\nb"]);
});

test("the guide's request evaluates a script over HTTP", async () => {
  const [body = ""] = examples("json");
  const evaluated = await weft.call("POST", "/functions/eval", { body: JSON.parse(body) });
  expect([evaluated.status, evaluated.json]).toEqual([
    200,
    { result: "A1", rendered_script: "to_upper_case('a') + n", logs: [] },
  ]);
  const refused = await weft.call("POST", "/functions/eval", { body: {} });
  expect([refused.status, refused.json]).toEqual([400, { error: true, message: "script is required" }]);
  const listed = await weft.call("GET", "/functions?group=file");
  expect((listed.json as { total: number }).total).toBeGreaterThan(20);
});
