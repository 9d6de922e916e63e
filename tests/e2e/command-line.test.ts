import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CommandResult, runCommand, startCommand } from "../../bin/test-command.ts";
import { startTestServer, type TestServer, waitUntil } from "../../lib/testing/test-server.ts";

let weft: TestServer;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "weft-commands-"));
  weft = await startTestServer();
  await weft.storeWorkflow(`name: greet
description: Says hello
params: [{name: word, default: hello}]
steps: [{name: say, type: bash, command: 'echo {{word}} {{Target}}'}]`);
  await weft.storeWorkflow("name: fails\nsteps: [{name: bad, type: bash, command: 'echo why >&2; exit 3'}]");
  await weft.storeWorkflow("name: slow\nsteps: [{name: nap, type: bash, command: 'sleep 300'}]");
  await weft.storeWorkflow(
    "name: both\nkind: flow\nmodules: [{name: first, path: greet}, {name: then, path: greet, depends_on: [first]}]",
  );
});
afterAll(async () => {
  await weft[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const start = (args: readonly string[], input = "") =>
  startCommand(args, { cwd: folder, env: { WEFT_DATA_DIR: weft.dataDir }, input });
const commandWith = (env: Record<string, string>, ...args: string[]): Promise<CommandResult> =>
  runCommand(args, { cwd: folder, env: { WEFT_DATA_DIR: weft.dataDir, ...env } });
const command = (...args: string[]): Promise<CommandResult> => commandWith({}, ...args);
const json = async (...args: string[]) => {
  const { code, out, error } = await command(...args, "--json");
  return { code, error, ...(JSON.parse(out) as Record<string, unknown>) };
};

describe("weft emit --file", () => {
  const lines = (count: number) =>
    Array.from({ length: count }, (_, n) => `{"topic":"custom.line","name":"n${n}"}\n\n`).join("");

  test("emits the events of a file and of standard input", async () => {
    const file = join(folder, "events.jsonl");
    await writeFile(file, lines(1_500));
    const { code, out, error } = await command("emit", "--file", file);
    expect([code, out]).toEqual([0, "Emitted 1500 events, of which 0 trigger workflows\n"]);
    expect(error).toBe("1000 events emitted\n1500 events emitted\n");
    const piped = await start(["emit", "--file", "-", "--json"], lines(3)).ended;
    const answers = piped.out.trimEnd().split("\n");
    expect(answers.map((line) => JSON.parse(line))).toMatchObject(Array(3).fill({ topic: "custom.line" }));
  });

  test("names the lines that are not accepted, and how many events were emitted before them", async () => {
    const file = join(folder, "invalid.jsonl");
    await writeFile(file, `${lines(1_000)}{"topic":"custom.line"}\n{"topic":""}\n`);
    const refused = await command("emit", "--file", file);
    expect(refused.code).toBe(1);
    expect(refused.error).toBe(
      `1000 events emitted\n1000 events were emitted before the failure\nweft: Lines 2001 to 2002 of ${file} were not accepted: 1.topic: must not be empty\n`,
    );
    await writeFile(file, '{"topic":"custom.line"}\n[1]\n');
    expect(await command("emit", "--file", file)).toMatchObject({
      code: 1,
      error: "weft: Line 2 is not a JSON object.\n",
    });
    expect(await command("emit", "--file", join(folder, "missing"))).toMatchObject({
      code: 1,
      error: `weft: The file ${join(folder, "missing")} does not exist.\n`,
    });
  });
});

describe("weft run", () => {
  test("prints the steps of a stored module and exits with 0 when the run completes", async () => {
    const { code, out, error } = await command("run", "greet", "-t", "one.example", "-w", "mine", "-o");
    expect([code, error]).toEqual([0, ""]);
    expect(out).toMatch(/^greet {2}run \S+\n {2}✓ say +bash +\S+\n {6}hello one\.example\ncompleted in /);
    expect(out).toContain("workspace mine");
  });

  test("prints a flow's steps with their modules", async () => {
    const { code, out } = await command("run", "both", "-p", "word=hi");
    expect([code, out]).toEqual([0, expect.stringMatching(/✓ first\/say[\s\S]*✓ then\/say/)]);
  });

  test("exits with 1 when the run fails, and names the log", async () => {
    const { code, error } = await command("run", "fails");
    expect(code).toBe(1);
    expect(error).toMatch(
      /^weft: The run failed after \S+: .*exit code 3: why\nTo see the output of its steps: weft logs \S+\n$/,
    );
    expect(await json("run", "fails")).toMatchObject({ code: 1, status: "failed" });
  });

  test("cancels the run on SIGINT and exits with 130", async () => {
    const running = start(["run", "slow"]);
    await waitUntil("the run", () => running.out().includes("run "));
    const id = /run (\S+)/.exec(running.out())?.[1] ?? "";
    await waitUntil("the step", async () => (await weft.steps(id)).nap?.status === "running");
    running.child.kill("SIGINT");
    expect((await running.ended).code).toBe(130);
    expect((await weft.waitForRun(id)).status).toBe("cancelled");
  });

  test("exits with 130 when another client cancels the run", async () => {
    const running = start(["run", "slow", "-t", "cancelled.example", "--json"]);
    const list = () =>
      weft.get<{ data: { run_id: string }[] }>("/runs?target=cancelled.example&status=running");
    const id = await waitUntil("the run", async () => (await list()).data[0]?.run_id);
    const cancelled = await command("runs", "cancel", id);
    expect(cancelled).toEqual({ code: 0, out: `cancelled ${id}\n`, error: "" });
    const { code, out } = await running.ended;
    expect([code, JSON.parse(out)]).toMatchObject([130, { run_id: id, status: "cancelled" }]);
    expect(await command("runs", "cancel", id)).toMatchObject({
      code: 1,
      error: expect.stringContaining("Cannot cancel run with status 'cancelled'"),
    });
  });

  test("returns without waiting for the run with --detach", async () => {
    const { code, out } = await command("run", "greet", "--detach");
    expect(code).toBe(0);
    expect(await weft.waitForRun(out.trim())).toMatchObject({ workflow_name: "greet", status: "completed" });
  });

  test("stores the workflow of a file on the running server", async () => {
    await writeFile(
      join(folder, "filed.yaml"),
      "name: filed\nsteps: [{name: s, type: bash, command: 'true'}]",
    );
    expect((await command("run", "filed.yaml")).code).toBe(0);
    expect((await weft.call("GET", "/workflows/filed")).status).toBe(200);
  });

  test("suggests a workflow with a similar name if the workflow does not exist", async () => {
    expect(await command("run", "great")).toMatchObject({
      code: 1,
      error: expect.stringContaining("There is no workflow 'great'. Did you mean 'greet'?"),
    });
  });
});

test("a dry run prints the planned steps and starts no run", async () => {
  const { code, out, error } = await command("run", "greet", "-t", "dry.example", "--dry-run");
  expect([code, error]).toEqual([0, ""]);
  expect(out).toMatch(
    /^greet {2}dry\.example {2}workspace dry\.example\n[\s\S]*1\. \S*say {2}bash[\s\S]*echo .*dry\.example/,
  );
  expect(await json("run", "greet", "-t", "dry.example", "--dry-run")).toMatchObject({ dry_run: true });
  expect(await json("runs", "-t", "dry.example")).toMatchObject({ data: [] });
});

test("starts one run for each target, and reruns one of them", async () => {
  const { code, out } = await command("run", "greet", "-t", "x.example", "-t", "y.example", "-c", "2");
  expect([code, out.split("\n").slice(1, 3).toSorted()]).toEqual([
    0,
    [expect.stringMatching(/✓ x\.example +completed/), expect.stringMatching(/✓ y\.example +completed/)],
  ]);
  const { data } = JSON.parse((await command("runs", "-t", "x.example", "--json")).out);
  const [first] = data as { run_id: string }[];
  const id = (await command("runs", "rerun", first?.run_id ?? "", "-p", "word=again")).out.trim();
  await weft.waitForRun(id);
  expect(Object.values(await weft.steps(id))).toMatchObject([{ output: "again x.example" }]);
});

test("logs prints a run's log, its last lines, or follows it until the run ends", async () => {
  const { run_id } = await weft.run({ module: "fails" });
  const whole = (await command("logs", run_id)).out;
  expect(whole).toMatch(/ started[\s\S]*why\n[\s\S]*run failed: [^\n]*\n$/);
  expect((await command("logs", run_id, "-n", "1")).out).toBe(`${whole.trimEnd().split("\n").at(-1)}\n`);
  expect((await command("logs", run_id, "--offset", "10")).out).toBe(whole.slice(10));
  const slow = await weft.startRun({ module: "slow" });
  const following = start(["logs", "-f", slow]);
  await waitUntil("the step's line", () => following.out().includes("sleep 300"));
  await weft.call("DELETE", `/runs/${slow}`);
  const { code, out } = await following.ended;
  expect([code, out]).toEqual([0, expect.stringMatching(/run cancelled\n$/)]);
  expect((await command("logs", "gone")).error).toBe("weft: The server returned 404: Run not found\n");
});

test("creates, shows, fires, disables and deletes a schedule", async () => {
  const create = ["schedules", "create", "nightly", "--workflow", "greet", "--cron"];
  const created = await command(...create, "0 2 * * *", "--timezone", "Europe/Berlin", "-t", "s.example");
  const [, id = ""] = /^created (\S+) {2}next run \d/.exec(created.out) ?? [];
  expect((await command("schedules")).out).toContain(id);
  expect((await command("schedules", "show", id)).out).toMatch(
    /cron +0 2 \* \* \*\ntime zone +Europe\/Berlin\n/,
  );
  const [, run = ""] = / run (\S+)\n/.exec((await command("schedules", "trigger", id)).out) ?? [];
  expect(await weft.waitForRun(run)).toMatchObject({ target: "s.example", status: "completed" });
  await command("schedules", "disable", id);
  expect(await json("schedules", "show", id)).toMatchObject({ is_enabled: false, next_run: null });
  await command("schedules", "enable", id);
  expect(await json("schedules", "show", id)).toMatchObject({ is_enabled: true, run_count: 1 });
  expect((await command("schedules", "delete", id)).code).toBe(0);
  expect((await command("schedules", "show", id)).error).toContain("Schedule not found");
  expect((await command(...create, "61 * * * *")).error).toMatch(/returned 400: schedule: /);
});

test("imports, lists and exports assets", async () => {
  const input = "a.example\nhttps://b.example/x\n";
  const imported = await start(["assets", "import", "-", "-w", "brought"], input).ended;
  expect(imported.out).toBe("-: 2 new, 0 changed, 0 unchanged, 0 lines skipped\n");
  const listed = await command("assets", "-w", "brought", "--search", "b.ex");
  expect([listed.out, listed.error]).toEqual([
    expect.stringMatching(/https:\/\/b\.example\/x +url +brought/),
    "1 of 1\n",
  ]);
  const csv = (await command("assets", "export", "-w", "brought")).out.trimEnd().split("\n");
  expect(csv).toEqual([
    expect.stringContaining("asset_value"),
    ...["b.example/x", "a.example"].map((each) => expect.stringContaining(each)),
  ]);
});

test("lists functions and evaluates scripts", async () => {
  expect((await command("functions", "--search", "base64")).out).toMatch(/\nbase64_encode\(/);
  const evaluated = await command(
    "functions",
    "eval",
    "trim('  {{target}} ') + n",
    "-t",
    "a.example",
    "-p",
    "n=5",
  );
  expect(evaluated).toEqual({ code: 0, out: "a.example5\n", error: "" });
  expect((await command("functions", "eval", "nope(")).error).toMatch(/^weft: The server returned 400: /);
});

describe("lists", () => {
  test("of runs fit the terminal width and can be filtered", async () => {
    await command("run", "greet", "-t", `${"long".repeat(20)}.example`, "-w", "lists");
    const { code, out, error } = await commandWith({ COLUMNS: "100" }, "runs", "-w", "lists");
    expect([code, error]).toEqual([0, "1 of 1\n"]);
    const [head = "", row = ""] = out.split("\n");
    expect(head).toMatch(/^RUN +STATUS +WORKFLOW +TARGET +STEPS +TOOK +BY +CREATED/);
    expect(row).toMatch(/completed +greet +longlong\S*… +1\/1 /);
    expect(Math.max(head.length, row.length)).toBeLessThanOrEqual(100);
    const page = await json("runs", "--status", "completed", "-w", "lists", "--limit", "1");
    expect(page).toMatchObject({ pagination: { total: 1 }, data: [{ workflow_name: "greet" }] });
    expect((await command("runs", "--status", "failed", "-w", "lists")).error).toBe("0 of 0\n");
  });

  test("of a run's steps, and the details of one run", async () => {
    const { run_id } = await weft.run({ module: "greet", target: "shown" });
    const details = await command("runs", "show", run_id);
    expect(details.out).toMatch(/^run +\S+\nworkflow +greet\nstatus +completed\ntarget +shown\n/);
    expect(details.out).toMatch(
      /STEP +MODULE +TYPE +STATUS +TOOK +TRY +OUTPUT\nsay +greet +bash +completed /,
    );
    expect(await json("runs", "show", run_id)).toMatchObject({ run_id, steps: [{ step_name: "say" }] });
    expect(await json("runs", "steps", run_id)).toMatchObject({ data: [{ step_name: "say" }] });
    expect(await command("runs", "show", "gone")).toMatchObject({
      code: 1,
      error: "weft: The server returned 404: Run not found\n",
    });
  });

  test("of workflows show a stored one until it is deleted", async () => {
    const yaml = "name: kept\nkind: module\nsteps: [{name: s, type: bash, command: 'true'}]\n";
    await writeFile(join(folder, "kept.yaml"), yaml);
    expect(await command("workflows", "save", "kept.yaml")).toMatchObject({
      code: 0,
      out: "saved module kept, revision 1\n",
    });
    expect((await command("workflows", "show", "kept", "--yaml")).out).toBe(yaml);
    expect((await command("workflows", "--search", "kept")).out).toMatch(
      /^NAME +KIND +STEPS[^\n]*\nkept +module +1 /,
    );
    expect(await json("workflows", "show", "kept")).toMatchObject({ name: "kept", yaml });
    expect((await command("workflows", "delete", "kept")).code).toBe(0);
    expect(await command("workflows", "show", "kept")).toMatchObject({ code: 1, out: "" });
    await writeFile(join(folder, "odd.yaml"), "name: odd\nsteps: [{name: s, type: odd}]");
    expect((await command("workflows", "save", "odd.yaml")).error).toMatch(
      /odd\.yaml: line 2, column \d+: steps/,
    );
  });

  test("of assets are empty if no asset matches", async () => {
    expect(await command("assets", "-w", "nowhere")).toEqual({ code: 0, out: "", error: "0 of 0\n" });
  });
});

describe("events", () => {
  test("are emitted with a payload from the flag or standard input, and listed by filter", async () => {
    await weft.storeWorkflow(`name: hears
triggers: [{type: event, topic: custom.heard}]
steps: [{name: s, type: bash, command: 'true'}]`);
    const heard = await command("emit", "custom.heard", "--data", '{"a":1}');
    expect(heard).toMatchObject({ code: 0, out: expect.stringMatching(/^evt_\S+\nIt triggers hears\n$/) });
    const piped = start(["emit", "custom.piped", "--data", "-", "--source", "me", "--json"], '{"b":2}');
    expect(JSON.parse((await piped.ended).out)).toMatchObject({
      topic: "custom.piped",
      triggered_workflows: [],
    });
    expect(await json("events", "--topic", "custom.piped")).toMatchObject({
      data: [{ source: "me", data: '{"b":2}' }],
    });
    const listed = await command("events", "--topic", "custom.heard");
    expect(listed.out).toMatch(/^ *ID +AT +TOPIC[^\n]*\n *\d+ +[\d-]+ [\d:]+ +custom\.heard .*\{"a":1\}\n$/);
    for (const wrong of ["{", "[1]", "1"])
      expect((await command("emit", "x", "--data", wrong)).error).toContain("--data must be a JSON object.");
  });

  test("are followed in order, each printed once", async () => {
    await weft.emit({ topic: "custom.before" });
    const running = start(["events", "-f", "--source", "followed", "--json"]);
    // Once the command prints a new event, it has read all earlier ones.
    let sent = 0;
    await waitUntil("the first one", async () => {
      sent += 1;
      await weft.emit({ topic: `custom.n${sent}`, source: "followed" });
      await new Promise((resolve) => setTimeout(resolve, 200));
      return running.out() !== "";
    });
    for (let more = 0; more < 5; more += 1)
      await weft.emit({ topic: `custom.n${sent + more + 1}`, source: "followed" });
    const last = `custom.n${sent + 5}`;
    await waitUntil("the last one", () => running.out().includes(last));
    running.child.kill("SIGINT");
    const { out } = await running.ended;
    const topics = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).topic as string);
    const numbers = topics.map((topic) => Number(topic.slice("custom.n".length)));
    expect(numbers).toEqual(Array.from(numbers, (_, at) => (numbers[0] ?? 0) + at));
    expect(topics.at(-1)).toBe(last);
  });
});
