import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../lib/testing/test-server.ts";

let weft: TestServer;
beforeAll(async () => {
  weft = await startTestServer();
  const guide = await readFile(new URL("../../docs/flows.md", import.meta.url), "utf8");
  for (const [, yaml = ""] of guide.matchAll(/```yaml\n([\s\S]*?)```/g)) await weft.storeWorkflow(yaml);
});
afterAll(() => weft.stop());

/** Starts a run, waits for its end, and returns the outputs of its steps by name. */
async function outputs(body: object): Promise<Record<string, string>> {
  const run = await weft.run({ target: "example.com", workspace: crypto.randomUUID(), ...body });
  expect(run).toMatchObject({ status: "completed", error_message: "" });
  const steps = Object.values(await weft.steps(run.run_id));
  return Object.fromEntries(steps.map(({ step_name, output }) => [step_name, output]));
}

test("the guide's flow runs its modules in order and skips the optional one by default", async () => {
  expect(await outputs({ flow: "report" })).toEqual({ write: "", count: "2", say: "there are 2" });
  expect(await outputs({ flow: "report", params: { thorough: true } })).toMatchObject({ sort: "b\na" });
});

test("rejects a run of the module alone without its required param", async () => {
  const answer = await weft.call("POST", "/runs", {
    body: { module: "count-lines", target: "x" },
  });
  expect(answer).toMatchObject({
    status: 400,
    json: { message: "params: required parameter missing: file" },
  });
});

test.each([
  ["continues after a failure if the flow allows it", { flow: "best-effort" }, { try: "", done: "done" }],
  ["lets steps wait for those they name", { module: "diamond" }, { both: "left and right" }],
  ["goes where a decision leads", { module: "choose" }, { look: "plain", plain: "plain" }],
  ["ends where a decision says so", { module: "choose", params: { kind: "fancy" } }, { fancy: "~ fancy ~" }],
  ["tries again", { module: "stubborn" }, { flaky: "try 2" }],
  ["runs hooks around steps", { module: "hooked" }, { "note-end": "noted", work: "working on example.com" }],
  ["runs hooks around modules", { flow: "hooked-flow" }, { "note-first": "first", "note-last": "after one" }],
  ["extends another", { module: "stubborn-and-polite" }, { flaky: "try 2", thank: "thanks" }],
])("%s", async (_what, body, expected) => {
  expect(await outputs(body)).toMatchObject(expected);
});

test("dependencies are checked before the first step", async () => {
  const run = await weft.run({ module: "hooked", target: "not a domain" });
  expect(run).toMatchObject({
    status: "failed",
    error_message: "dependency check failed: target is not of type domain or ip",
  });
});
