import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Ended, startCommand } from "../../bin/test-command.ts";
import { startWeft, until, type Weft } from "./weft.ts";

let weft: Weft;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "weft-commands-"));
  weft = await startWeft();
  await weft.save(`name: greet
description: Says hello
params: [{name: word, default: hello}]
steps: [{name: say, type: bash, command: 'echo {{word}} {{Target}}'}]`);
  await weft.save("name: fails\nsteps: [{name: bad, type: bash, command: 'echo why >&2; exit 3'}]");
  await weft.save("name: slow\nsteps: [{name: nap, type: bash, command: 'sleep 300'}]");
  await weft.save("name: both\nkind: flow\nmodules: [{name: first, path: greet}, {name: then, path: greet}]");
});
afterAll(async () => {
  await weft[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const start = (args: readonly string[], input = "", env: Record<string, string> = {}) =>
  startCommand(args, { cwd: folder, env: { WEFT_DATA_DIR: weft.dataDir, ...env }, input });
const command = (...args: string[]): Promise<Ended> => start(args).ended;
const json = async (...args: string[]) => {
  const { code, out, error } = await command(...args, "--json");
  return { code, error, ...(JSON.parse(out) as Record<string, unknown>) };
};

describe("weft run", () => {
  test("shows a stored module's steps and ends with 0 when it is completed", async () => {
    const { code, out, error } = await command("run", "greet", "-t", "one.example", "-w", "mine", "-o");
    expect([code, error]).toEqual([0, ""]);
    expect(out).toMatch(/^greet {2}run \S+\n {2}✓ say +bash +\S+\n {6}hello one\.example\ncompleted in /);
    expect(out).toContain("workspace mine");
  });

  test("tells of a flow's steps by their modules", async () => {
    const { code, out } = await command("run", "both", "-p", "word=hi");
    expect([code, out]).toEqual([0, expect.stringMatching(/✓ first\/say[\s\S]*✓ then\/say/)]);
  });

  test("ends with 1 when it fails, and says where to look", async () => {
    const { code, error } = await command("run", "fails");
    expect(code).toBe(1);
    expect(error).toMatch(
      /^weft: The run failed after \S+: .*exit code 3: why\nWhat its steps wrote: weft logs \S+\n$/,
    );
    expect(await json("run", "fails")).toMatchObject({ code: 1, status: "failed" });
  });

  test("cancels the run at SIGINT, and ends with 130", async () => {
    const running = start(["run", "slow"]);
    await until("the run", () => running.out().includes("run "));
    const id = /run (\S+)/.exec(running.out())?.[1] ?? "";
    await until("the step", async () => (await weft.steps(id)).nap?.status === "running");
    running.child.kill("SIGINT");
    expect((await running.ended).code).toBe(130);
    expect((await weft.ended(id)).status).toBe("cancelled");
  });

  test("ends with 130 when somebody else cancels it", async () => {
    const running = start(["run", "slow", "--json"]);
    const list = () => weft.get<{ data: { run_id: string }[] }>("/runs?workflow=slow&status=running");
    const id = await until("the run", async () => (await list()).data[0]?.run_id);
    const cancelled = await command("runs", "cancel", id);
    expect(cancelled).toEqual({ code: 0, out: `cancelled ${id}\n`, error: "" });
    const { code, out } = await running.ended;
    expect([code, JSON.parse(out)]).toMatchObject([130, { run_id: id, status: "cancelled" }]);
    expect(await command("runs", "cancel", id)).toMatchObject({
      code: 1,
      error: expect.stringContaining("Cannot cancel run with status 'cancelled'"),
    });
  });

  test("leaves the run to the server with --detach", async () => {
    const { code, out } = await command("run", "greet", "--detach");
    expect(code).toBe(0);
    expect(await weft.ended(out.trim())).toMatchObject({ workflow_name: "greet", status: "completed" });
  });

  test("stores a file's workflow with the server that runs", async () => {
    await writeFile(
      join(folder, "filed.yaml"),
      "name: filed\nsteps: [{name: s, type: bash, command: 'true'}]",
    );
    expect((await command("run", "filed.yaml")).code).toBe(0);
    expect((await weft.call("GET", "/workflows/filed")).status).toBe(200);
  });

  test("names a workflow that is near the one that is not there", async () => {
    expect(await command("run", "great")).toMatchObject({
      code: 1,
      error: expect.stringContaining("There is no workflow 'great'. Did you mean 'greet'?"),
    });
  });
});

describe("lists", () => {
  test("of runs fit the width, and take filters", async () => {
    await command("run", "greet", "-t", `${"long".repeat(20)}.example`, "-w", "lists");
    const { code, out, error } = await start(["runs", "-w", "lists"], "", { COLUMNS: "100" }).ended;
    expect([code, error]).toEqual([0, "1 of 1\n"]);
    const [head = "", row = ""] = out.split("\n");
    expect(head).toMatch(/^RUN +STATUS +WORKFLOW +TARGET +STEPS +TOOK +BY +CREATED/);
    expect(row).toMatch(/completed +greet +longlong\S*… +1\/1 /);
    expect(Math.max(head.length, row.length)).toBeLessThanOrEqual(100);
    const page = await json("runs", "--status", "completed", "-w", "lists", "--limit", "1");
    expect(page).toMatchObject({ pagination: { total: 1 }, data: [{ workflow_name: "greet" }] });
    expect((await command("runs", "--status", "failed", "-w", "lists")).error).toBe("0 of 0\n");
  });

  test("of a run's steps, and all of one run", async () => {
    const { run_id } = await weft.run({ module: "greet", target: "shown" });
    const shown = await command("runs", "show", run_id);
    expect(shown.out).toMatch(/^run +\S+\nworkflow +greet\nstatus +completed\ntarget +shown\n/);
    expect(shown.out).toMatch(/STEP +MODULE +TYPE +STATUS +TOOK +TRY +SAYS\nsay +greet +bash +completed /);
    expect(await json("runs", "show", run_id)).toMatchObject({ run_id, steps: [{ step_name: "say" }] });
    expect(await json("runs", "steps", run_id)).toMatchObject({ data: [{ step_name: "say" }] });
    expect(await command("runs", "show", "gone")).toMatchObject({
      code: 1,
      error: "weft: The server refused (404): Run not found\n",
    });
  });

  test("of workflows; one is stored, shown and deleted", async () => {
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

  test("of assets are empty where there are none", async () => {
    expect(await command("assets", "-w", "nowhere")).toEqual({ code: 0, out: "", error: "0 of 0\n" });
  });
});

describe("events", () => {
  test("are emitted with the payload of the flag or of standard input, and listed by filter", async () => {
    await weft.save(`name: hears
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

  test("are followed as they come, oldest first, each once", async () => {
    await weft.emit({ topic: "custom.before" });
    const running = start(["events", "-f", "--source", "followed", "--json"]);
    // It has read what there was once it tells of the first that comes after it.
    let sent = 0;
    await until("the first one", async () => {
      sent += 1;
      await weft.emit({ topic: `custom.n${sent}`, source: "followed" });
      await new Promise((resolve) => setTimeout(resolve, 200));
      return running.out() !== "";
    });
    for (let more = 0; more < 5; more += 1)
      await weft.emit({ topic: `custom.n${sent + more + 1}`, source: "followed" });
    const last = `custom.n${sent + 5}`;
    await until("the last one", () => running.out().includes(last));
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
