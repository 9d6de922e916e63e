import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Page, startTestServer, type TestServer, waitUntil } from "../../lib/testing/test-server.ts";

let weft: TestServer;
beforeAll(async () => {
  weft = await startTestServer({
    files: { "workflows/at-start.yaml": "steps: [{name: s, type: bash, command: 'true'}]" },
  });
});
afterAll(() => weft[Symbol.asyncDispose]());

const YAML = (name: string, command = "true") =>
  `name: ${name}\nsteps:\n  - name: s\n    type: bash\n    command: "${command}"\n`;
const post = (body: string, type?: string) =>
  weft.call("POST", "/workflows", {
    body,
    ...(type === undefined ? {} : { headers: { "content-type": type } }),
  });

interface Listed {
  readonly name: string;
  readonly revision: number;
  readonly kind: string;
}

describe("POST /workflows", () => {
  test.each([
    "application/yaml",
    "text/yaml",
    "text/plain",
    "text/plain; charset=utf-8",
    "application/x-www-form-urlencoded",
    undefined,
  ])("accepts YAML as %s", async (type) => {
    const answer = await post(YAML("typed"), type);
    expect([answer.status, answer.json]).toEqual([
      201,
      {
        message: expect.any(String),
        name: "typed",
        kind: "module",
        description: "",
        revision: 1,
        warnings: [],
      },
    ]);
  });

  test.each(["application/json", undefined])(
    "accepts the definition as JSON and as {yaml} with content type %s",
    async (type) => {
      const definition = { name: "as-json", steps: [{ name: "s", type: "bash", command: "echo json" }] };
      expect((await post(JSON.stringify(definition), type)).json).toMatchObject({
        name: "as-json",
        kind: "module",
      });
      expect((await post(JSON.stringify({ yaml: YAML("as-text") }), type)).json).toMatchObject({
        name: "as-text",
      });
      expect((await weft.run({ module: "as-json" })).status).toBe("completed");
    },
  );

  test("an error contains line and column", async () => {
    const bad = await post("name: x\nsteps:\n  - name: s\n    type: bash\n   command: a\n");
    expect([bad.status, bad.message]).toEqual([400, expect.stringMatching(/line \d+, column \d+/)]);
    const missing = await post("name: x\nsteps:\n  - name: s\n    type: bash\n");
    expect([missing.status, missing.message]).toEqual([
      400,
      expect.stringMatching(/line 3, column \d+.*command/),
    ]);
  });

  test("an unknown step type returns 400 with the seven types", async () => {
    const answer = await post("name: x\nsteps:\n  - {name: s, type: shell, command: a}\n");
    expect(answer.status).toBe(400);
    for (const type of ["bash", "function", "parallel-steps", "foreach", "remote-bash", "http", "llm"]) {
      expect(answer.message).toContain(type);
    }
  });

  test.each([
    ["nothing", ""],
    ["blank", " \n"],
    ["a list", "- a"],
    ["no name", "steps: [{name: s, type: bash, command: a}]"],
    ["no steps", "name: x"],
    ["empty steps", "name: x\nsteps: []"],
    ["a name with a slash", YAML("a/b")],
    [
      "a cron expression that never fires",
      "name: x\ntriggers: [{type: cron, schedule: '0 0 31 2 *'}]\nsteps: [{name: s, type: bash, command: a}]",
    ],
    [
      "a cron expression of six fields",
      "name: x\ntriggers: [{type: cron, schedule: '0 0 0 1 1 *'}]\nsteps: [{name: s, type: bash, command: a}]",
    ],
    [
      "an unknown time zone",
      "name: x\ntriggers: [{type: cron, schedule: '0 0 * * *', timezone: Mars/Base}]\nsteps: [{name: s, type: bash, command: a}]",
    ],
    ["an unknown kind", `kind: job\n${YAML("x")}`],
    ["a http step without url", "name: x\nsteps: [{name: s, type: http}]"],
    ["a foreach without a step", "name: x\nsteps: [{name: s, type: foreach, input: a, variable: v}]"],
  ])("%s returns 400", async (_name, body) => {
    const answer = await post(body);
    expect([answer.status, answer.json]).toEqual([400, { error: true, message: expect.stringMatching(/./) }]);
    expect((await weft.call("GET", "/workflows/x")).status).toBe(404);
  });

  test.each([
    [
      "two steps with the same name",
      "steps: [{name: s, type: bash, command: a}, {name: s, type: bash, command: b}]",
      /^steps\[1\]\.name: the step name "s" is used more than once: this step is called "s-2"/,
    ],
    [
      "a nested step with an existing name",
      "steps: [{name: s, type: bash, command: a}, {name: p, type: parallel-steps, parallel_steps: [{name: s, type: bash, command: b}]}]",
      /^steps\[1\]\.parallel_steps\[0\]\.name: the step name "s" is used more than once: this step is called "s-2"/,
    ],
  ])("%s is stored with a warning", async (_name, body, warning) => {
    const answer = await post(`name: tolerated\n${body}`);
    expect([answer.status, answer.json]).toMatchObject([
      201,
      { name: "tolerated", warnings: [expect.stringMatching(warning)] },
    ]);
    expect((await weft.call("GET", "/workflows/tolerated")).status).toBe(200);
  });

  test("an event trigger without a topic is stored with a warning and fires for every event", async () => {
    const { warnings } = await weft.storeWorkflow(`triggers: [{type: event}]\n${YAML("every-event")}`);
    expect(warnings).toEqual([
      expect.stringMatching(/^triggers\[0\]\.topic: .*: the trigger fires for every event/),
    ]);
    const { triggered_workflows } = await weft.emit({ topic: "custom.any" });
    expect((await weft.call("DELETE", "/workflows/every-event")).status).toBe(200);
    expect(triggered_workflows).toEqual(["every-event"]);
  });

  test("storing a changed text adds a revision; the same text does not", async () => {
    expect((await weft.storeWorkflow(YAML("again"))).revision).toBe(1);
    expect((await weft.storeWorkflow(YAML("again"))).revision).toBe(1);
    expect((await weft.storeWorkflow(YAML("again", "exit 0"))).revision).toBe(2);
    const { data } = await weft.get<{ data: { revision: number; yaml: string } }>("/workflows/again");
    expect(data).toMatchObject({ revision: 2, yaml: YAML("again", "exit 0") });
  });

  test("a remote-bash step without a key fails with the reason", async () => {
    const saved = await weft.storeWorkflow(`name: later
steps:
  - {name: before, type: bash, command: "true"}
  - {name: far, type: remote-bash, step_runner: ssh, step_runner_config: {host: h, user: u}, command: id}
`);
    expect(saved.warnings).toEqual([]);
    const run = await weft.run({ module: "later" });
    expect(run).toMatchObject({
      status: "failed",
      error_message: expect.stringMatching(
        /step_runner_config\.key_file: is required: set key_file or password/,
      ),
    });
    expect(await weft.steps(run.run_id)).toMatchObject({
      before: { status: "completed" },
      far: { status: "failed" },
    });
  });
});

describe("GET and DELETE /workflows", () => {
  test("lists by name with filters", async () => {
    await weft.storeWorkflow(
      `kind: module\ntags: [red, blue]\ndescription: Counts the stars\n${YAML("listed-a")}`,
    );
    await weft.storeWorkflow(
      "name: listed-b\nkind: flow\ntags: red, green\nmodules: [{name: m, path: listed-a}]",
    );
    await weft.storeWorkflow(`hidden: true\ntags: [red]\n${YAML("listed-c")}`);
    const names = async (query: string) =>
      (await weft.get<Page<Listed>>(`/workflows?limit=100&${query}`)).data.map(({ name }) => name);
    expect(await names("tags=red")).toEqual(["listed-a", "listed-b"]);
    expect(await names("tags=green,blue")).toEqual(["listed-a", "listed-b"]);
    expect(await names("tags=red&kind=flow")).toEqual(["listed-b"]);
    expect(await names("search=STARS")).toEqual(["listed-a"]);
    const all = await names("");
    expect(all).toEqual([...all].sort());
    expect(all).not.toContain("listed-c");
    expect((await weft.call("GET", "/workflows/listed-c")).status).toBe(200);
  });

  test("a deleted workflow triggers no run and cannot be run; stored again, its revisions continue", async () => {
    await weft.storeWorkflow(`triggers: [{type: event, topic: custom.gone}]\n${YAML("gone")}`);
    expect((await weft.emit({ topic: "custom.gone" })).triggered_workflows).toEqual(["gone"]);
    const answer = await weft.call("DELETE", "/workflows/gone");
    expect([answer.status, answer.json]).toEqual([200, { message: expect.any(String), name: "gone" }]);
    expect((await weft.call("GET", "/workflows/gone")).status).toBe(404);
    expect((await weft.call("DELETE", "/workflows/gone")).status).toBe(404);
    expect((await weft.call("POST", "/runs", { body: { module: "gone" } })).status).toBe(404);
    expect((await weft.emit({ topic: "custom.gone" })).triggered_workflows).toEqual([]);
    expect((await weft.storeWorkflow(YAML("gone"))).revision).toBe(2);
  });
});

describe("the workflows folder", () => {
  const listed = async (name: string) => (await weft.call("GET", `/workflows/${name}`)).status === 200;
  const file = (name: string) => join(weft.dataDir, "workflows", name);

  test("a file that exists at the start is loaded under the file's name", async () => {
    expect(await listed("at-start")).toBe(true);
  });

  test("adding, changing and removing a file adds a workflow, adds a revision and removes the workflow", async () => {
    await writeFile(file("come.yaml"), YAML("come"));
    await waitUntil("the workflow", () => listed("come"));
    // Editors write a temporary file and rename it.
    await writeFile(file("come.yaml~"), YAML("come", "exit 0"));
    await rename(file("come.yaml~"), file("come.yaml"));
    await waitUntil("the revision", async () => {
      const { data } = await weft.get<{ data: Listed }>("/workflows/come");
      return data.revision === 2;
    });
    await rm(file("come.yaml"));
    await waitUntil("the end of the workflow", async () => !(await listed("come")));
  });

  test("reads nested folders; an invalid file is logged and changes no workflow", async () => {
    await mkdir(file("sub"), { recursive: true });
    await writeFile(file("sub/deep.yml"), YAML("deep"));
    await waitUntil("the workflow in the folder", () => listed("deep"));
    await writeFile(file("sub/deep.yml"), "name: deep\nsteps: [{name: s, type: shell}]\n");
    await waitUntil("the message", () => weft.log().includes("rejected a workflow file"));
    expect((await weft.get<{ data: Listed }>("/workflows/deep")).data.revision).toBe(1);
    await writeFile(file("notes.txt"), YAML("notes"));
    await writeFile(file("sub/deeper.yaml"), YAML("deeper"));
    await waitUntil("a later file", () => listed("deeper"));
    expect(await listed("notes")).toBe(false);
  });
});
