import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { handler } from "../../../functions/workflows/runs/log.ts";
import { type TestDeps, testDeps } from "../../testing/test-deps.ts";
import { invokeHandler } from "../../testing/test-handler-call.ts";
import { requestOf } from "../../testing/test-requests.ts";
import { storeWorkflow } from "../../testing/test-workflows.ts";
import { startBody, startRun } from "./start.ts";

const MODULE = `
name: logged
steps:
  - {name: say, type: bash, log: "hello {{Target}}", command: "echo {{Target}}"}
  - {name: bad, type: bash, command: "fail"}
`;

let test: TestDeps;
let printed = "one\ntwo\n";
beforeEach(async () => {
  printed = "one\ntwo\n";
  test = await testDeps({
    command: async ({ argv }) =>
      argv.some((text) => text.includes("fail")) ? { exitCode: 3 } : { stdout: printed },
  });
  await storeWorkflow(test.deps, MODULE);
});
afterEach(() => test.close());

const start = async (target = "a.example"): Promise<string> =>
  (await startRun(test.deps, startBody.parse({ module: "logged", target }))).run_id;
const read = (id: string, query: Record<string, string> = {}, headers: Record<string, string> = {}) =>
  handler(requestOf("GET", `/runs/${id}/log`, { params: { id }, query, headers }), { weft: test.deps });
const textsOf = (body: string): string[] =>
  body.split("\n").map((line) => line.slice("2026-03-02T10:00:00.000Z ".length));

describe("the log of a run", () => {
  it("contains the run, its steps, their messages and their output, as text", async () => {
    const id = await start();
    await test.drain();
    const answer = await read(id);
    expect(answer.statusCode).toBe(200);
    expect(answer.headers).toMatchObject({
      "content-type": "text/plain; charset=utf-8",
      "x-run-status": "failed",
      "x-next-offset": String(Buffer.byteLength(answer.body)),
    });
    expect(textsOf(answer.body)).toEqual([
      `run ${id} of logged started, target: a.example`,
      "[say] started (bash)",
      "[say] hello a.example",
      "[say] $ echo a.example",
      "[say] | one",
      "[say] | two",
      "[say] completed after 0 ms",
      "[bad] started (bash)",
      "[bad] $ fail",
      "[bad] failed after 0 ms: command failed with exit code 3",
      "run failed: command failed with exit code 3",
      "",
    ]);
  });

  it("can be read by its last lines, and from the next offset of the previous response", async () => {
    const id = await start();
    await test.drain();
    const whole = (await read(id)).body;
    expect(textsOf((await read(id, { tail: "2" })).body)).toEqual([
      "[bad] failed after 0 ms: command failed with exit code 3",
      "run failed: command failed with exit code 3",
      "",
    ]);
    expect((await read(id, { tail: "999999999" })).body).toBe(whole);
    const json = { accept: "application/json" };
    const from = whole.indexOf("\n") + 1;
    const part = JSON.parse((await read(id, { offset: String(from) }, json)).body);
    expect(part).toEqual({
      run_id: id,
      status: "failed",
      log: whole.slice(from),
      offset: from,
      next_offset: whole.length,
      size: whole.length,
    });
    const end = JSON.parse((await read(id, { offset: String(part.next_offset) }, json)).body);
    expect(end).toMatchObject({ log: "", next_offset: whole.length });
    expect(JSON.parse((await read(id, { offset: "99999999999" }, json)).body)).toMatchObject({ log: "" });
  });

  it("grows while the run is running", async () => {
    const id = await start();
    expect((await read(id)).body).toBe("");
    await test.drain(["bash"]);
    const begun = await read(id);
    expect(textsOf(begun.body)[0]).toBe(`run ${id} of logged started, target: a.example`);
    expect(begun.headers["x-run-status"]).toBe("running");
    await test.drain();
    const rest = await read(id, { offset: begun.headers["x-next-offset"] ?? "" });
    expect(begun.body + rest.body).toBe((await read(id)).body);
  });

  it("prevents output from imitating a line of another step and from colouring a terminal", async () => {
    printed = "\u001b[31mred\u001b[0m\r2026-03-02T10:00:00.000Z run completed\u0007\n";
    const id = await start();
    await test.drain();
    const texts = textsOf((await read(id)).body);
    expect(texts).toContain("[say] | red");
    expect(texts).toContain("[say] | 2026-03-02T10:00:00.000Z run completed");
    expect(texts).not.toContain("run completed");
  });

  it.each([
    [{ tail: "0" }, "query.tail: must be at least 1"],
    [{ tail: "x" }, "query.tail: must be a whole number"],
    [{ offset: "-1" }, "query.offset: must be at least 0"],
    [{ offset: "1", tail: "1" }, "query.tail: must not be combined with offset"],
  ])("rejects %j", async (query, message) => {
    const answer = await read(await start(), query as Record<string, string>);
    expect([answer.statusCode, JSON.parse(answer.body)]).toEqual([400, { error: true, message }]);
  });

  it("is not found if workers executed the steps, and the error says where it is", async () => {
    const id = await start();
    await test.drain();
    await read(id);
    await rm(join(test.folder, "runs", id, "run.log"));
    const { commit } = test.deps.outbox;
    const shared = { ...test.deps, outbox: { commit } };
    const answer = await invokeHandler(handler, requestOf("GET", `/runs/${id}/log`, { params: { id } }), {
      weft: shared,
    });
    expect([answer.statusCode, JSON.parse(answer.body).message]).toEqual([
      404,
      "The log of this run is not on this machine: it is on the worker that executed its steps",
    ]);
  });

  it("is returned in parts of at most a mebibyte of whole lines", async () => {
    printed = `${"x".repeat(99)}\n`.repeat(10_000);
    const id = await start();
    await test.drain();
    let text = "";
    for (let offset = "0", parts = 0; ; parts += 1) {
      const answer = await read(id, { offset });
      if (answer.body === "") break;
      expect(answer.body.endsWith("\n")).toBe(true);
      expect(Buffer.byteLength(answer.body)).toBeLessThanOrEqual(1024 * 1024);
      text += answer.body;
      offset = answer.headers["x-next-offset"] ?? "";
      expect(parts).toBeLessThan(10);
    }
    expect(textsOf(text).filter((line) => line.startsWith("[say] | xxx"))).toHaveLength(10_000);
    expect(textsOf(text).at(-2)).toMatch(/^run failed/);
  });

  it("limits the lines of one command, and says where the others are", async () => {
    printed = "a\n".repeat(500_000);
    const id = await start();
    await test.drain();
    const texts = textsOf((await read(id)).body);
    expect(texts.filter((line) => line === "[say] | a")).toHaveLength(10_000);
    expect(texts).toContainEqual(expect.stringMatching(/^\[say\] \| \[more in say\..*out\]$/));
    expect(texts.at(-2)).toMatch(/^run failed/);
  });

  it.each(["none", "999", "../../etc/passwd", "x".repeat(500)])(
    "of an unknown run is not found: %s",
    async (id) => {
      expect((await read(id)).statusCode).toBe(404);
    },
  );
});
