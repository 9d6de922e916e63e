import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, type TestServer, waitUntil } from "../../lib/testing/test-server.ts";

const run = promisify(execFile);
const guide = await readFile(new URL("../../docs/runs.md", import.meta.url), "utf8");
const blocks = (language: string): string[] =>
  [...guide.matchAll(/^```(\w+)\n(.*?)^```$/gms)].flatMap(([, named, text = ""]) =>
    named === language ? [text] : [],
  );
const commands = blocks("sh").flatMap((text) => text.split("\n").filter((line) => line.startsWith("curl ")));

let weft: TestServer;
const names: Record<string, string> = {};
beforeAll(async () => {
  weft = await startTestServer({ env: { STEPS_CONCURRENCY_MAX: "4" } });
  for (const yaml of blocks("yaml")) await weft.storeWorkflow(yaml);
  await weft.storeWorkflow("name: fails\nsteps: [{name: s, type: bash, command: 'exit 3'}]");
  await weft.storeWorkflow("name: waits\nsteps: [{name: s, type: bash, command: 'sleep 300'}]");
  names["WEFT"] = `${weft.url}/automation`;
  names["AUTH"] = `Authorization: Bearer ${weft.token}`;
  names["FAILED"] = (await weft.run({ module: "fails" })).run_id;
  names["OPEN"] = await weft.startRun({ module: "waits" });
  const job = await weft.call("POST", "/runs", { body: { module: "waits", targets: ["a", "b"] } });
  names["OPEN_JOB"] = (job.json as { job_id: string }).job_id;
});
afterAll(() => weft[Symbol.asyncDispose]());

test("the guide has examples of every kind", () => {
  expect(commands.length).toBeGreaterThan(10);
  for (const part of ["/duplicate", "/start", "/rerun", "/resume", "/log", "/jobs/", "dry_run", "DELETE"])
    expect(commands.some((command) => command.includes(part))).toBe(true);
});

test("the guide's commands work as documented, one after another", async () => {
  for (const command of commands) {
    const { stdout } = await run("bash", ["-c", command], { env: { PATH: process.env["PATH"], ...names } });
    if (/\/log(?:\?tail=20)?"/.test(command)) {
      expect(stdout).toMatch(/\[say\] \| Hello, [abc]\.example\n/);
      continue;
    }
    const answer = JSON.parse(stdout) as Record<string, unknown>;
    expect([command, answer["message"] ?? ""]).toEqual([
      command,
      expect.not.stringMatching(/^(Cannot|query|params)/),
    ]);
    expect([command, answer["error"]]).toEqual([command, undefined]);
    const { run_id, job_id } = answer as { run_id?: string; job_id?: string };
    if (command.includes("/duplicate")) names["COPY"] = run_id ?? "";
    else if (command.includes('/runs" ') && run_id !== undefined) {
      names["RUN"] = run_id;
      names["JOB"] = job_id ?? "";
      expect((await weft.waitForRun(run_id)).status).toBe("completed");
    }
  }
  expect((await weft.waitForRun(names["COPY"] ?? "")).status).toBe("completed");
  expect((await weft.waitForRun(names["OPEN"] ?? "")).status).toBe("cancelled");
});

test("a log can be read while the command writes it", async () => {
  await weft.storeWorkflow(
    "name: slow\nsteps: [{name: s, type: bash, command: 'echo first; while [ ! -e go ]; do sleep 0.05; done; echo second >&2'}]",
  );
  const id = await weft.startRun({ module: "slow", workspace: "slow" });
  const first = await waitUntil("the first line", async () => {
    const { text, headers } = await weft.call("GET", `/runs/${id}/log`);
    return text.includes("[s] | first\n") && { text, next: headers.get("x-next-offset") };
  });
  expect(first.text).not.toContain("! second");
  expect((await weft.get<{ data: { status: string } }>(`/runs/${id}`)).data.status).toBe("running");
  await run("touch", [`${weft.dataDir}/workspaces/slow/go`]);
  await weft.waitForRun(id);
  const rest = (await weft.call("GET", `/runs/${id}/log?offset=${first.next}`)).text;
  expect(rest).toMatch(/\[s\] ! second\n.*\[s\] completed after \d+ ms\n.*run completed\n$/);
  expect(rest).not.toContain("first");
});
