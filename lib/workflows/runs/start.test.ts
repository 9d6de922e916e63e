import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { handler } from "../../../functions/workflows/runs/create.ts";
import { type TestDeps, testDeps } from "../../testing/test-deps.ts";
import { invokeHandler } from "../../testing/test-handler-call.ts";
import { requestOf } from "../../testing/test-requests.ts";
import { readRuns, runValues, storeWorkflow } from "../../testing/test-workflows.ts";
import { targetValues } from "../values/target-values.ts";

let test: TestDeps;
beforeEach(async () => {
  test = await testDeps();
  await storeWorkflow(test.deps, 'name: one\nsteps: [{name: s, type: bash, command: "echo {{Target}}"}]\n');
});
afterEach(() => test.close());

const post = async (body: unknown) => {
  const answer = await invokeHandler(handler, requestOf("POST", "/runs", { body }), { weft: test.deps });
  return { status: answer.statusCode, json: JSON.parse(answer.body) };
};
const start = (more: Record<string, unknown>) => post({ module: "one", ...more });
const targets = async (): Promise<string[]> =>
  (await readRuns(test.deps)).map(({ target }) => target).toSorted();
const write = async (path: string, text: string): Promise<void> => {
  const file = join(test.folder, path);
  await mkdir(join(file, ".."), { recursive: true });
  await writeFile(file, text);
};

describe("targets", () => {
  it("are the union of all given targets, trimmed, without duplicates, in order", async () => {
    await write("workspaces/lists/in.txt", "# a comment\nc\n\n a \r\nd\n");
    const { status, json } = await start({
      target: " a ",
      targets: ["b", "a", "", "c"],
      target_file: "lists/in.txt",
      concurrency: 4,
    });
    expect(status).toBe(202);
    expect(json).toMatchObject({
      target: "a",
      targets: ["a", "b", "c", "d"],
      target_count: 4,
      concurrency: 4,
    });
    expect(json.run_id).toBe(json.run_ids[0]);
    expect(await targets()).toEqual(["a", "b", "c", "d"]);
  });

  it("can come from an uploaded file", async () => {
    await write("uploads/in.txt", "u\n");
    expect((await start({ target_file: "uploads/in.txt" })).json.target).toBe("u");
  });

  it("may be omitted: `empty_target` generates one", async () => {
    const { json } = await start({ empty_target: true });
    expect(json.target).toMatch(/^empty-[0-9a-f]{6}-1772445600$/);
    expect((await start({})).json.target).toBe("");
  });

  it("are passed as values: they never become part of a command, and may contain any character", async () => {
    const hostile = ["x; id", "$(id)", "`id`", "a\nb", "-oProxyCommand=x", "{{RunID}}", "[[x]]", "' \" \\"];
    const { json } = await start({ targets: hostile, concurrency: 10 });
    expect(json.target_count).toBe(hostile.length);
    await test.drain();
    for (const { argv } of test.commands) expect(argv.at(-1)).toMatch(/^echo "\$\{W\d+\}"$/);
    expect(
      test.commands.map(({ env }) => Object.values(env).find((v) => hostile.includes(v))).toSorted(),
    ).toEqual(hostile.toSorted());
  });

  it.each([
    "../weft.db",
    "/etc/passwd",
    "lists/../../../etc/passwd",
    "lists/link",
    "lists",
    "nowhere.txt",
    "a\u0000b",
    "uploads/../access-token",
  ])("are not read from %j", async (target_file) => {
    await write("workspaces/lists/in.txt", "a\n");
    await write("access-token", "secret\n");
    await symlink("/etc/passwd", join(test.folder, "workspaces/lists/link"));
    const { status, json } = await start({ target_file });
    expect([status, json]).toEqual([
      400,
      { error: true, message: "target_file: must be an existing file in a workspace or in uploads" },
    ]);
  });
});

describe("a request", () => {
  it.each([
    [{ module: 7 }, "module: must be text"],
    [{ params: 1 }, "params: must be an object of texts, numbers, true or false"],
    [{ params: { a: [] } }, "params.a: must be text, a number, true or false"],
    [{ targets: "a" }, "targets: must be a list"],
    [{ targets: [1] }, "targets.0: must be text"],
    [{ targets: Array.from({ length: 1001 }, String) }, "targets: must have at most 1000 entries"],
    [{ targets: [" "] }, /at least one target is required/],
    [{ target: "x".repeat(4097) }, "target: must have at most 4096 characters"],
    [{ timeout: -1 }, "timeout: must be at least 0"],
    [{ timeout: "5" }, "timeout: must be a number"],
    [{ timeout: 1.5 }, "timeout: must be a whole number"],
    [{ concurrency: 5000 }, "concurrency: must be at most 1000"],
    [{ priority: "soon" }, "priority: must be one of: low, normal, medium, high, critical"],
    [{ run_mode: "cloud" }, "run_mode: must be local"],
    [{ run_mode: "x" }, "run_mode: must be one of: local, distributed, cloud"],
    [{ heuristics_check: "deep" }, "heuristics_check: must be one of: none, basic, advanced"],
    [{ schedule: "* * * * *" }, "schedule: use POST /schedules to create a schedule"],
    [{ schedule_enabled: true }, "schedule_enabled: use POST /schedules to create a schedule"],
    [{ empty_target: 1 }, "empty_target: must be true or false"],
  ])("is rejected with a clear message: %j", async (more, message) => {
    const { status, json } = await start(more);
    expect([status, json]).toEqual([
      400,
      { error: true, message: typeof message === "string" ? message : expect.stringMatching(message) },
    ]);
    expect(await targets()).toEqual([]);
  });

  it("starts no run if its file has more lines than the limit of runs", async () => {
    await write("workspaces/w/in.txt", Array.from({ length: 1001 }, (_, index) => `t${index}\n`).join(""));
    const { status, json } = await start({ target_file: "w/in.txt" });
    expect([status, json.message]).toEqual([400, expect.stringContaining("at most 1000 entries")]);
    expect(await targets()).toEqual([]);
  });

  it("may have fields without effect here", async () => {
    const more = {
      skip_validation: true,
      runner_type: "x",
      notify_on_complete: true,
      schedule: "",
      run_mode: "local",
    };
    expect((await start({ ...more, heuristics_check: "none" })).status).toBe(202);
  });
});

describe("built-in variables", () => {
  it("describe the run, its target and its settings", async () => {
    const { json } = await start({ target: "https://api.example.co.uk:8443/a/b.php?x", threads_hold: 7 });
    const { values } = await runValues(test.deps, json.run_id, ["x"]);
    expect(values).toMatchObject({
      DBRunID: "1",
      threads: "7",
      baseThreads: "3",
      HeuristicsCheck: "basic",
      TargetType: "url",
      TargetHost: "api.example.co.uk:8443",
      TargetPort: "8443",
      TargetRootDomain: "example.co.uk",
      TargetSLD: "example",
      TargetTLD: "co.uk",
      TargetScheme: "https",
      TargetFileExt: "php",
    });
  });

  it.each([
    ["example.com", "domain"],
    ["a.b.example.com", "domain"],
    ["192.0.2.1", "ip"],
    ["2001:db8::1", "ip"],
    ["/tmp/list.txt", "file"],
    ["https://", "unknown"],
    ["", "unknown"],
  ])("know the type of %s", (target, type) => {
    expect(targetValues(target)["TargetType"]).toBe(type);
  });
});
