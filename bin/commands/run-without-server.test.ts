import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type CommandResult, startCommand } from "../test-command.ts";

let folder: string;
let temporary: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "weft-alone-"));
  temporary = join(folder, "tmp");
  await mkdir(temporary);
});
afterEach(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));

const start = (args: readonly string[]) =>
  startCommand(args, { cwd: folder, env: { TMPDIR: temporary, HOME: folder } });
const weft = (...args: string[]): Promise<CommandResult> => start(args).ended;
const write = (name: string, yaml: string) => writeFile(join(folder, name), yaml);
const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};
async function until(check: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + 20_000;
  while (!(await check())) {
    if (performance.now() > end) throw new Error("timed out");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe("a run of a file without a server", () => {
  test("prints the steps with their durations, exits with 0 and removes its files", async () => {
    await write(
      "hello.yaml",
      `name: hello
steps:
  - {name: greet, type: bash, command: "echo hello {{Target}} {{word}}"}
  - {name: not-now, type: bash, pre_condition: "1 > 2", command: "true"}
`,
    );
    const { code, out, error } = await weft("run", "hello.yaml", "-t", "a.example", "-p", "word=two=2", "-o");
    expect([code, error]).toEqual([0, ""]);
    expect(out).toMatch(
      /^hello {2}run [0-9a-f-]{36}\n {2}✓ greet +bash +\d+ms\n {6}hello a\.example two=2\n {2}- not-now +bash +skipped\ncompleted in \S+ {2}2 of 2 steps {2}workspace a\.example\n$/,
    );
    expect((await readdir(folder)).toSorted()).toEqual(["hello.yaml", "tmp"]);
    expect(await readdir(temporary)).toEqual([]);
  });

  test("is repeated until one fails, and printed according to the workflow's preferences", async () => {
    await write(
      "again.yaml",
      `name: again
preferences: {repeat: true, repeat_wait_time: 10ms, ci_output_format: true, empty_target: true}
steps: [{name: s, type: bash, command: 'echo x >> ${join(folder, "count")}; test $(wc -l < ${join(folder, "count")}) -lt 3'}]
`,
    );
    const { code, out } = await weft("run", "again.yaml", "-w", "w");
    const records = out.trim().split("\n");
    expect([code, records.map((record) => JSON.parse(record).status)]).toEqual([
      1,
      ["completed", "completed", "failed"],
    ]);
    expect(JSON.parse(records[0] ?? "").target).toMatch(/^empty-/);
    await rm(join(folder, "count"));
    const once = await weft("run", "again.yaml", "-w", "w", "--once");
    expect([once.code, once.out.trim().split("\n")]).toEqual([0, [expect.stringContaining('"completed"')]]);
  });

  test("exits with 130 if it is interrupted between two runs", async () => {
    await write("idle.yaml", "name: idle\nsteps: [{name: s, type: bash, command: 'true'}]");
    const running = start(["run", "idle.yaml", "--repeat", "--repeat-wait", "1h"]);
    let out = "";
    running.child.stdout?.on("data", (chunk) => {
      out += chunk;
    });
    await until(() => out.includes("completed in"));
    running.child.kill("SIGINT");
    const { code, error } = await running.ended;
    expect([code, error]).toEqual([130, "weft: Interrupted: no further run was started.\n"]);
    expect(await readdir(temporary)).toEqual([]);
  });

  test.each([
    [["--repeat-wait", "soon"], "--repeat-wait must be a duration such as 30s, 5m or 1h, not 'soon'."],
    [["--repeat", "--once"], "Option '--repeat' cannot be used with option '--once'."],
    [["--repeat", "--detach"], "Option '--repeat' cannot be used with option '-d, --detach'."],
  ])("rejects %j", async (flags, why) => {
    await write("idle.yaml", "name: idle\nsteps: [{name: s, type: bash, command: 'true'}]");
    const { code, error } = await weft("run", "idle.yaml", ...flags);
    expect([code, error]).toEqual([2, expect.stringContaining(why)]);
  });

  test("exits with 1 and the reason if it fails", async () => {
    await write("bad.yaml", "name: bad\nsteps: [{name: s, type: bash, command: 'echo no luck >&2; exit 7'}]");
    const { code, out, error } = await weft("run", "./bad.yaml");
    expect([code, out]).toEqual([1, expect.stringContaining("✗ s")]);
    expect(error).toMatch(/^weft: The run failed after \S+: command failed with exit code 7: no luck\n$/);
    expect(await readdir(temporary)).toEqual([]);
  });

  test.each(["SIGINT", "SIGTERM"] as const)(
    "exits with 130 on %s, and ends its processes",
    async (signal) => {
      await write(
        "slow.yaml",
        `name: slow\nsteps: [{name: nap, type: bash, command: 'echo $$ > ${join(folder, "pid")}; exec sleep 300'}]`,
      );
      const running = start(["run", "slow.yaml"]);
      let pid = 0;
      await until(async () => {
        pid = Number(await readFile(join(folder, "pid"), "utf8").catch(() => ""));
        return pid > 0;
      });
      running.child.kill(signal);
      const { code, error } = await running.ended;
      expect([code, error]).toEqual([
        130,
        expect.stringMatching(/Cancelling[\s\S]*The run was cancelled\.\n$/),
      ]);
      await until(() => !isAlive(pid));
      expect(await readdir(temporary)).toEqual([]);
    },
  );

  test("exits immediately on a second interrupt", async () => {
    await write(
      "deaf.yaml",
      `name: deaf\nsteps: [{name: nap, type: bash, command: 'trap "" TERM INT; echo $$ > ${join(folder, "pid")}; sleep 300'}]`,
    );
    const running = start(["run", "deaf.yaml"]);
    await until(async () => (await readdir(folder)).includes("pid"));
    const asked = performance.now();
    running.child.kill("SIGINT");
    const again = setInterval(() => running.child.kill("SIGINT"), 300);
    const { code } = await running.ended;
    clearInterval(again);
    expect(code).toBe(130);
    expect(performance.now() - asked).toBeLessThan(10_000);
    const pid = Number(await readFile(join(folder, "pid"), "utf8"));
    await until(() => !isAlive(pid));
    expect(await readdir(temporary)).toEqual([]);
  });

  test("prints only the final record as JSON", async () => {
    await write("hello.yaml", "name: hello\nsteps: [{name: s, type: bash, command: 'true'}]");
    const { code, out, error } = await weft("run", "hello.yaml", "--json");
    expect([code, error]).toEqual([0, ""]);
    expect(JSON.parse(out)).toMatchObject({
      workflow_name: "hello",
      status: "completed",
      completed_steps: 1,
    });
  });

  test("stores the modules next to a flow, and their parent workflow", async () => {
    await mkdir(join(folder, "flows"));
    await mkdir(join(folder, "modules"));
    await write("modules/base.yaml", "name: base\nsteps: [{name: said, type: bash, command: 'echo base'}]");
    await write("modules/heir.yaml", "name: heir\nextends: base\n");
    await write("flows/all.yaml", "name: all\nkind: flow\nmodules: [{name: heir, path: ../modules/heir}]");
    const { code, out, error } = await weft("run", "flows/all.yaml", "-o");
    expect([code, error, out]).toEqual([0, "", expect.stringMatching(/✓ heir\/said .*\n {6}base\n/)]);
  });

  test("is stored in the folder of --data-dir", async () => {
    await write("hello.yaml", "name: hello\nsteps: [{name: s, type: bash, command: 'true'}]");
    expect((await weft("run", "hello.yaml", "--data-dir", "kept")).code).toBe(0);
    expect(await readdir(join(folder, "kept"))).toContain("access-token");
    expect(await readdir(join(folder, "kept"))).not.toContain("server.json");
    expect(await readdir(temporary)).toEqual([]);
  });

  test("reports errors of the file by line and column", async () => {
    await write("wrong.yaml", "name: wrong\nsteps: [{name: s, type: bsh}]");
    const { code, out, error } = await weft("run", "wrong.yaml");
    expect([code, out]).toEqual([1, ""]);
    expect(error).toMatch(/wrong\.yaml: line 2, column 25: steps\[0\]\.type: unknown step type "bsh"/);
    expect(await readdir(temporary)).toEqual([]);
  });

  test("rejects --detach, and a file that does not exist", async () => {
    await write("hello.yaml", "name: hello\nsteps: [{name: s, type: bash, command: 'true'}]");
    const left = await weft("run", "hello.yaml", "--detach");
    expect([left.code, left.error]).toEqual([
      1,
      expect.stringContaining("--detach requires a running server"),
    ]);
    const gone = await weft("run", "gone.yaml");
    expect([gone.code, gone.error]).toEqual([
      1,
      expect.stringMatching(/The file .*gone\.yaml does not exist\./),
    ]);
  });
});

test("reports a named server that does not respond, and starts none instead", async () => {
  await write("hello.yaml", "name: hello\nsteps: [{name: s, type: bash, command: 'true'}]");
  const args = ["run", "hello.yaml", "--url", "http://127.0.0.1:9", "--token", "t"];
  const { code, out, error } = await weft(...args);
  expect([code, out]).toEqual([1, ""]);
  expect(error).toMatch(/^weft: Weft does not respond at http:\/\/127\.0\.0\.1:9 \(.+\)\.\nStart it with/);
});
