import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { route as evalRoute } from "../../../functions/workflows/functions/eval.ts";
import { route as listRoute } from "../../../functions/workflows/functions/list.ts";
import { route as oldListRoute } from "../../../functions/workflows/functions/list-all.ts";
import { startTestRunner, type TestRunner } from "../../platform/embedded/runner/test-runner.ts";
import { type TestDeps, testDeps } from "../../testing/test-deps.ts";
import { describedByRows, functionEntries, functionRows } from "../script-library/entries.ts";
import { functions } from "../script-library/library.ts";
import { evaluateBody } from "./evaluate.ts";

let runner: TestRunner;
let platform: TestDeps;
beforeAll(async () => {
  runner = await startTestRunner();
  platform = await testDeps();
});
afterAll(async () => {
  await runner.close();
  await platform.close();
});

const request = {
  requestId: "r",
  method: "POST",
  path: "/",
  principal: undefined,
  receivedAt: 0,
  headers: {},
  clientAddress: "",
  address: () => "",
};

function evaluate(body: unknown) {
  const parsed = evaluateBody.parse(body);
  return evalRoute.run(
    { params: undefined, query: undefined, body: parsed, request },
    { ...platform.deps, scripts: runner.scripts },
  );
}

describe("POST /functions/eval", () => {
  test.each([
    [{ script: "1 + 1" }, 2, "1 + 1"],
    [{ script: 'to_upper_case("{{target}}")', target: 'a"b' }, 'A"B', 'to_upper_case("a"b")'],
    [{ script: "target + Target", target: "x" }, "xx", "target + Target"],
    [{ script: "{{ n }} + p.a.length", params: { n: 2, p: { a: [1] } } }, 3, "2 + p.a.length"],
    [{ script: "save_content('x', 'f') && read_file('f')" }, "x", "save_content('x', 'f') && read_file('f')"],
    [{ script: "set_var('a', 1); get_var('a')" }, 1, "set_var('a', 1); get_var('a')"],
    [{ script: "undefined" }, null, "undefined"],
  ])("returns the result of %j", async (body, result, rendered) => {
    expect(await evaluate(body)).toEqual({ result, rendered_script: rendered, logs: [] });
  });

  test("returns the logged messages", async () => {
    expect(await evaluate({ script: "log_warn('careful'); file_length('nowhere')" })).toMatchObject({
      result: 0,
      logs: [
        { level: "warn", message: "careful" },
        { level: "warn", message: expect.stringMatching(/^file_length: /) },
      ],
    });
  });

  test.each([
    [{}, "script is required"],
    [{ script: " \n" }, "script is required"],
    [{ script: null }, "script is required"],
    [{ script: "'{{ target'" }, /^Template rendering failed: /],
    [{ script: "/{{target}}/", target: "x" }, /^Template rendering failed: /],
    [{ script: "no.such" }, /^Execution failed: ReferenceError/],
    [{ script: "syntax error" }, /^Execution failed: SyntaxError/],
    [{ script: "throw new Error('mine')" }, "Execution failed: Error: mine"],
    [{ script: "notify_telegram('x')" }, /^Execution failed: Error: notify_telegram is not available: /],
    [{ script: "exec_cmd('id')" }, /^Execution failed: .*not available here/],
    [{ script: "generate_event('w', 't', 's', 'd', {})" }, /^Execution failed: .*only runs can emit/],
    [{ script: "read_file('/etc/passwd')" }, /^Execution failed: .*outside of the workspace/],
    [{ script: "read_file('../../etc/passwd')" }, /^Execution failed: .*outside of the workspace/],
    [{ script: "read_file('{{target}}')", target: "../../../../etc/passwd" }, /outside of the workspace/],
  ])("rejects %j", async (body, message) => {
    await expect(evaluate(body)).rejects.toMatchObject({
      code: "bad_request",
      message: expect.stringMatching(message),
    });
  });

  test.each([
    { script: 1 },
    { script: "1", params: [] },
    { script: "1", target: {} },
    { script: "x".repeat(100_001) },
    { script: "1", params: Object.fromEntries(Array.from({ length: 201 }, (_, index) => [`p${index}`, 1])) },
  ])("rejects a body of another form", (body) => {
    expect(evaluateBody.safeParse(body).success).toBe(false);
  });

  test.each([
    "this.constructor.constructor('return process')()",
    "(function(){}).constructor('return typeof process + typeof require')()",
    "`${''.constructor.constructor('return globalThis.process')().env}`",
    "Error.prepareStackTrace = (_, frames) => frames; new Error().stack.map((f) => f.getThis().process)",
    "read_file.constructor('return process.env')()",
    "Object.getPrototypeOf(async function(){}).constructor('return import(\"node:fs\")')()",
  ])("gives no access outside the engine: %s", async (script) => {
    const outcome = await Promise.resolve(evaluate({ script })).then(
      (answer) => JSON.stringify((answer as { result: unknown }).result),
      (error: Error) => error.message,
    );
    expect(outcome).toMatch(/^(?:"undefinedundefined"|Execution failed: .*)$/s);
    expect(outcome).not.toMatch(/PATH|node_modules|\/work\//);
  });

  test("leaves no folder behind, and reveals no local path", async () => {
    const before = readdirSync(tmpdir()).filter((name) => name.startsWith("weft-eval-"));
    await evaluate({ script: "create_folder('a/b'); save_content('x', 'a/b/c')" });
    await expect(evaluate({ script: "create_folder('a'); throw new Error('x')" })).rejects.toThrow();
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith("weft-eval-"))).toEqual(before);
  });

  test("limits the number of concurrent evaluations", async () => {
    const all = await Promise.allSettled(Array.from({ length: 6 }, () => evaluate({ script: "sleep(0.2)" })));
    const refused = all.filter((one) => one.status === "rejected").map(({ reason }) => reason.code);
    expect(refused).toEqual(["too_many_requests", "too_many_requests"]);
  });
});

describe("GET /functions", () => {
  const list = (query: Record<string, string>) =>
    listRoute.run(
      { params: undefined, query: listRoute.query!.parse(query), body: undefined, request },
      undefined as never,
    ) as {
      functions: { name: string; tags: readonly string[]; available: boolean }[];
      total: number;
    };

  test("lists every current function of the library", () => {
    const { functions: listed, total } = list({});
    expect(listed).toEqual(functionEntries(describedByRows(functionRows(functions))));
    expect(total).toBe(Object.keys(functions).length);
    expect(listed.find(({ name }) => name === "file_exists")).toEqual({
      name: "file_exists",
      signature: "file_exists(path)",
      aliases: ["fileExists"],
      return_type: "boolean",
      description: "Whether a file or folder exists",
      example: 'file_exists("hosts.txt")',
      tags: ["file"],
      available: true,
      place: "workspace",
    });
  });

  test("filters by group and text", () => {
    expect(list({ group: "tmux" }).functions.map(({ available }) => available)).toEqual(Array(5).fill(false));
    expect(list({ search: "FILELENGTH" }).functions.map(({ name }) => name)).toEqual(["file_length"]);
    expect(list({ group: "none" })).toEqual({ functions: [], total: 0 });
  });

  test("returns the same from its old path", () => {
    expect(
      oldListRoute.run(
        { params: undefined, query: {} as never, body: undefined, request },
        undefined as never,
      ),
    ).toEqual(list({}));
  });
});
