import type { ChildProcess } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  type CommandResult,
  type RecordedRequest,
  runCommand,
  type StubResponse,
  type StubServer,
  startCommand,
  startStubServer,
} from "./test-command.ts";

let folder: string;
let stub: StubServer;
let respond: (request: RecordedRequest) => StubResponse | undefined;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "weft-responses-"));
  stub = await startStubServer((request) => respond(request));
});
afterEach(async () => {
  await stub[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const command = (args: readonly string[], input?: string): Promise<CommandResult> => {
  const all = [...args, "--url", stub.url, "--token", "t0ken"];
  return input === undefined
    ? runCommand(all, { cwd: folder })
    : startCommand(all, { cwd: folder, input }).ended;
};
const requests = (): string[] => stub.requests.map(({ line }) => line);
const bodies = (): unknown[] =>
  stub.requests.filter(({ body }) => body !== "").map(({ body }) => JSON.parse(body));

describe("weft logs", () => {
  const log = `${"line\n".repeat(3)}\u001b[31mred\u001b[0m\n`;
  const shown = `${"line\n".repeat(3)}red\n`;
  const part = (offset: number, status: string): StubResponse => ({
    body: log.slice(offset, offset + 10),
    headers: { "x-next-offset": String(Math.min(log.length, offset + 10)), "x-run-status": status },
  });
  const offsetOf = ({ line }: RecordedRequest): number => Number(/offset=(\d+)/.exec(line)?.[1] ?? 0);

  test("prints all chunks of a log, and requests text", async () => {
    respond = (one) => part(offsetOf(one), "completed");
    expect(await command(["logs", "r/1"])).toEqual({ code: 0, out: shown, error: "" });
    expect(requests()[0]).toBe("GET /automation/runs/r%2F1/log?offset=0");
    expect(stub.requests[0]?.headers).toMatchObject({ accept: "text/plain", authorization: "Bearer t0ken" });
  });

  test("prints no escape sequences, but the unchanged text as JSON", async () => {
    const body = "a\0b\u001b[2J\u001b]0;title\u0007\u001b]52;c;eA==\u001b\\\u001bc\u009b31mc\td\r\n";
    const headers = { "x-next-offset": "99", "x-run-status": "completed" };
    respond = () => ({ body, headers });
    expect((await command(["logs", "r", "-n", "1"])).out).toBe("abc31mc\td\n");
    const { out } = await command(["logs", "r", "-n", "1", "--json"]);
    expect(out).not.toContain("\u001b");
    expect(JSON.parse(out).log).toBe(body);
  });

  test("prints the last lines, or from an offset", async () => {
    respond = () => ({ body: "last\n", headers: { "x-next-offset": "99", "x-run-status": "running" } });
    expect((await command(["logs", "r", "-n", "1"])).out).toBe("last\n");
    expect(requests()).toEqual(["GET /automation/runs/r/log?tail=1"]);
    respond = (one) => part(offsetOf(one), "running");
    expect((await command(["logs", "r", "--offset", "10"])).out).toBe("line\nred\n");
  });

  test("follows until the run has finished", async () => {
    let polls = 0;
    respond = (one) => {
      polls += 1;
      const offset = offsetOf(one);
      return polls < 3
        ? { body: "", headers: { "x-next-offset": "0", "x-run-status": "running" } }
        : part(offset, "completed");
    };
    expect((await command(["logs", "-f", "r"])).out).toBe(shown);
  });

  test("distinguishes a server without logs from a run that does not exist", async () => {
    respond = ({ line }) => (line.endsWith("/runs/r") ? { body: { data: { run_id: "r" } } } : undefined);
    expect(await command(["logs", "r"])).toEqual({
      code: 1,
      out: "",
      error:
        "weft: This server does not provide logs: it is older than this command.\nTo see the output of the run's steps: weft runs steps r\n",
    });
    respond = () => ({ status: 404, body: { error: true, message: "Run not found" } });
    expect((await command(["logs", "r"])).error).toBe("weft: The server returned 404: Run not found\n");
  });
});

describe("weft runs", () => {
  test("filters by params, error and time", async () => {
    respond = () => ({ body: { data: [], pagination: { total: 0 } } });
    const filters = [
      "-p",
      "depth=3",
      "-p",
      "a b=c=d",
      "--error",
      "no route",
      "--started-after",
      "2026-01-02",
    ];
    expect((await command(["runs", ...filters])).code).toBe(0);
    expect(requests()).toEqual([
      "GET /automation/runs?error=no+route&started_after=2026-01-02&param.depth=3&param.a+b=c%3Dd",
    ]);
  });

  test("cancels and repeats several runs with one request, and fails if one of them could not be", async () => {
    const ok = (id: string) => ({ id, ok: true, run_id: `${id}-new`, error: "" });
    const failed = { id: "x", ok: false, run_id: "", error: "Run not found" };
    respond = ({ line }) => ({
      body: { results: line.endsWith("cancel") ? [ok("a"), failed] : [ok("a"), ok("b")] },
    });
    expect(await command(["runs", "cancel", "a", "x"])).toEqual({
      code: 1,
      out: "a-new\n",
      error: "weft: 1 of 2 runs could not be handled:\nx: Run not found\n",
    });
    expect(await command(["runs", "rerun", "a", "b", "-p", "depth=3"])).toEqual({
      code: 0,
      out: "a-new\nb-new\n",
      error: "",
    });
    expect(requests()).toEqual(["POST /automation/runs/cancel", "POST /automation/runs/rerun"]);
    expect(bodies()).toEqual([{ ids: ["a", "x"] }, { ids: ["a", "b"], params: { depth: "3" } }]);
  });
});

describe("weft schedules", () => {
  const row = {
    id: "sch_1",
    name: "nightly",
    workflow_name: "scan",
    target: "t",
    workspace: "",
    params: { a: "b" },
    trigger_type: "cron",
    schedule: "0 2 * * *",
    event_topic: "",
    watch_path: "",
    is_enabled: true,
    last_run: null,
    next_run: "2026-01-02T02:00:00.000Z",
    run_count: 3,
  };

  test("lists schedules and shows one", async () => {
    respond = ({ line }) =>
      line.includes("?") ? { body: { data: [row], pagination: { total: 1 } } } : { body: { data: row } };
    const { out, error } = await command(["schedules", "--trigger-type", "cron", "--enabled", "true"]);
    expect(requests()).toEqual(["GET /automation/schedules?trigger_type=cron&enabled=true"]);
    expect(out).toMatch(/^ID +NAME +WORKFLOW +TYPE +WHEN +ON +RUNS +LAST +NEXT\n/);
    expect(out).toMatch(/\nsch_1 +nightly +scan +cron +0 2 \* \* \* +yes +3 +2026-01-02 02:00:00\n$/);
    expect(error).toBe("1 of 1\n");
    const shown = await command(["schedules", "show", "sch_1"]);
    expect(shown.out).toMatch(/^id +sch_1\n[\s\S]*cron +0 2 \* \* \*\n[\s\S]*params +a=b\n/);
  });

  test("creates an enabled schedule of each type", async () => {
    respond = () => ({ status: 201, body: { message: "Schedule created", data: row } });
    const create = ["schedules", "create", "nightly", "--workflow", "scan"];
    const made = await command([
      ...create,
      "--cron",
      "0 2 * * *",
      "--timezone",
      "Europe/Berlin",
      "-p",
      "a=b",
    ]);
    expect(made).toEqual({ code: 0, out: "created sch_1  next run 2026-01-02 02:00:00\n", error: "" });
    await command([...create, "--topic", "run.failed", "--disabled"]);
    const common = { name: "nightly", workflow_name: "scan" };
    expect(bodies()).toEqual([
      {
        ...common,
        trigger_type: "cron",
        schedule: "0 2 * * *",
        timezone: "Europe/Berlin",
        enabled: true,
        params: { a: "b" },
      },
      { ...common, trigger_type: "event", event_topic: "run.failed", enabled: false, params: {} },
    ]);
    for (const wrong of [create, [...create, "--manual", "--topic", "x"]])
      expect(await command(wrong)).toMatchObject({
        code: 2,
        error: expect.stringContaining("requires one of --cron"),
      });
  });

  test.each([
    ["enable", "POST /automation/schedules/sch_w%3Aclock/enable", "enabled sch_w:clock\n"],
    ["disable", "POST /automation/schedules/sch_w%3Aclock/disable", "disabled sch_w:clock\n"],
    ["trigger", "POST /automation/schedules/sch_w%3Aclock/trigger", "triggered sch_w:clock  run r1\n"],
    ["delete", "DELETE /automation/schedules/sch_w%3Aclock", "deleted sch_w:clock\n"],
  ])("%ss a schedule", async (action, request, out) => {
    respond = () => ({ body: { message: "done", ...(action === "trigger" ? { run_id: "r1" } : {}) } });
    expect(await command(["schedules", action, "sch_w:clock"])).toEqual({ code: 0, out, error: "" });
    expect(requests()).toEqual([request]);
  });
});

describe("weft assets", () => {
  const counts = {
    message: "",
    workspace: "w",
    format: "plain",
    lines: 2,
    skipped: 1,
    assets: { discovered: 2, updated: 0, unchanged: 1 },
    vulnerabilities: { found: 0, known: 0 },
    errors: [{ line: 2, message: "no\u001b[2J asset" }],
  };

  test("imports a file in chunks of whole lines, and adds up the counts", async () => {
    const line = `${"x".repeat(400_000)}\n`;
    await writeFile(join(folder, "list.txt"), line.repeat(5));
    respond = () => ({ body: counts });
    const { code, out, error } = await command([
      "assets",
      "import",
      "list.txt",
      "-w",
      "w",
      "--format",
      "plain",
    ]);
    expect([code, out]).toEqual([0, "list.txt: 6 new, 0 changed, 3 unchanged, 3 lines skipped\n"]);
    expect(error.split("\n")).toEqual([2, 4, 6].map((at) => `list.txt:${at}: no [2J asset`).concat(""));
    expect(requests()).toEqual(
      Array.from({ length: 3 }, () => "POST /automation/assets/import?workspace=w&format=plain"),
    );
    expect(stub.requests.map(({ body }) => body).join("")).toBe(line.repeat(5));
    expect(stub.requests[0]?.headers["content-type"]).toBe("text/plain");
  });

  test("reads standard input, and rejects empty input", async () => {
    respond = () => ({ body: { ...counts, errors: [] } });
    expect((await command(["assets", "import", "-", "--json"], "a.example\n")).code).toBe(0);
    expect(stub.requests[0]?.body).toBe("a.example\n");
    expect((await command(["assets", "import", "-"], "\n")).error).toBe("weft: Standard input is empty.\n");
  });

  test("exports CSV to standard output, or to a file", async () => {
    const csv = "asset_value,title\nä.example,Ü\n";
    respond = () => ({ body: csv, headers: { "content-type": "text/csv; charset=utf-8" } });
    expect((await command(["assets", "export", "-w", "w"])).out).toBe(csv);
    expect(requests()).toEqual(["GET /automation/assets/export?workspace=w"]);
    expect((await command(["assets", "export", "-o", "out.csv"])).out).toBe("");
    expect(await readFile(join(folder, "out.csv"), "utf8")).toBe(csv);
    const nowhere = await command(["assets", "export", "-o", "no/out.csv"]);
    expect(nowhere).toMatchObject({ code: 1, error: "weft: no/out.csv cannot be written (ENOENT).\n" });
  });
});

test("functions are listed, and scripts are evaluated with parameters", async () => {
  respond = ({ line }) =>
    line.startsWith("GET")
      ? { body: { functions: [{ signature: "trim(text)", description: "Trims", tags: ["text"] }], total: 1 } }
      : { body: { result: { a: 1 }, rendered_script: "", logs: [{ level: "info", message: "said" }] } };
  const listed = await command(["functions", "--group", "text"]);
  expect(listed.out).toBe("FUNCTION    GROUP  DESCRIPTION\ntrim(text)  text   Trims\n");
  const evaluated = await command(["functions", "eval", "-", "-t", "a.example", "-p", "n=1"], "trim('x')");
  expect(evaluated).toEqual({ code: 0, out: '{\n  "a": 1\n}\n', error: "info: said\n" });
  expect(bodies()).toEqual([{ script: "trim('x')", target: "a.example", params: { n: "1" } }]);
});

describe("weft run", () => {
  const workflow = { body: { data: { name: "scan", kind: "flow" } } };

  test("starts a run for each target of the options and a file, and exits with their outcome", async () => {
    await writeFile(join(folder, "targets.txt"), "# some\nb.example\n\n c.example \n");
    respond = ({ line }) => {
      if (line.includes("/workflows/")) return workflow;
      if (line.startsWith("POST")) return { status: 202, body: { run_id: "1", run_ids: ["1", "2", "3"] } };
      const id = /runs\/(\d)/.exec(line)?.[1] ?? "";
      const status = id === "2" ? "failed" : "completed";
      const times = {
        created_at: "2026-01-01T00:00:00Z",
        started_at: null,
        completed_at: "2026-01-01T00:01:05Z",
      };
      return { body: { data: { run_id: id, target: `${id}.example`, status, error_message: "", ...times } } };
    };
    const { code, out, error } = await command([
      "run",
      "scan",
      "-t",
      "a.example",
      "-T",
      "targets.txt",
      "-c",
      "2",
      "--priority",
      "high",
    ]);
    expect(bodies()).toEqual([
      {
        flow: "scan",
        targets: ["a.example", "b.example", "c.example"],
        params: {},
        priority: "high",
        concurrency: 2,
      },
    ]);
    expect(out).toMatch(
      /^scan {2}3 runs\n {2}✓ 1\.example +completed in 1m05s\n {2}✗ 2\.example +failed in 1m05s\n/,
    );
    expect([code, error]).toEqual([
      1,
      "weft: 1 of 3 runs failed.\nTo see the output of its steps: weft logs 2\n",
    ]);
  });

  test("learns from the stream of events which of many runs have ended", async () => {
    const ids = Array.from({ length: 25 }, (_, at) => `r${at + 1}`);
    const at = "2026-01-01T00:00:00Z";
    let isLastRead = false;
    const event = (topic: string, run_id: string): string =>
      `id: 1\nevent: event\ndata: ${JSON.stringify({ topic, run_id })}\n\n`;
    respond = ({ line }) => {
      if (line.includes("/workflows/")) return workflow;
      if (line.startsWith("POST")) return { status: 202, body: { run_id: "r1", run_ids: ids } };
      if (line.includes("/event-logs/stream")) {
        const headers = { "content-type": "text/event-stream" };
        return { headers, body: event("run.completed", "another") + event("run.completed", "r25") };
      }
      const id = /runs\/(r\d+)/.exec(line)?.[1] ?? "";
      isLastRead ||= id === "r25";
      // The others end when the last one, which polling would not reach, was read.
      const status = isLastRead ? "completed" : "running";
      const times = { created_at: at, started_at: at, completed_at: at };
      const run = { run_id: id, target: id, workflow_name: "scan", status, error_message: "", ...times };
      return { body: { data: run } };
    };
    const { code, out } = await command(["run", "scan", ...ids.flatMap((id) => ["-t", id])]);
    expect(code).toBe(0);
    expect(out.split("\n").filter((line) => line.includes("completed"))).toHaveLength(25);
    expect(requests().filter((line) => line.includes("/event-logs/stream"))[0]).toBe(
      "GET /automation/event-logs/stream?workflow_name=scan",
    );
    expect(requests().filter((line) => line.endsWith("/runs/another"))).toEqual([]);
  });

  test("shows what a run would do, and sends no request to a server without dry runs", async () => {
    const plan = {
      dry_run: true,
      workflow: "scan",
      target: "a.example",
      workspace: "a.example",
      steps: [
        {
          order: 1,
          module: "",
          name: "look",
          type: "bash",
          depth: 0,
          will: "run",
          reason: "",
          commands: ["if true; then\n  echo a.example\nfi"],
        },
        {
          order: 2,
          module: "m",
          name: "skip",
          type: "http",
          depth: 0,
          will: "skip",
          reason: "1 > 2",
          commands: [],
        },
      ],
    };
    let supportsDryRun = true;
    respond = ({ line }) => {
      if (line.includes("/workflows/")) return workflow;
      if (line === "GET /openapi.json") return { body: supportsDryRun ? '{"dry_run":{}}' : "{}" };
      return { body: plan };
    };
    const { code, out } = await command(["run", "scan", "-t", "a.example", "--dry-run"]);
    expect([code, out.split("\n")]).toEqual([
      0,
      [
        "scan  a.example  workspace a.example",
        "  1. look  bash",
        "     if true; then",
        "       echo a.example",
        "     fi",
        "  2. m/skip  http  skipped: 1 > 2",
        "Nothing was executed.",
        "",
      ],
    ]);
    expect(bodies()).toEqual([{ flow: "scan", target: "a.example", params: {}, dry_run: true }]);
    supportsDryRun = false;
    expect(await command(["run", "scan", "--dry-run"])).toMatchObject({
      code: 1,
      error: "weft: This server does not support dry runs.\nNothing was started.\n",
    });
    expect(requests().filter((line) => line.startsWith("POST"))).toHaveLength(1);
  });

  test("cancels the run that a request starts if Ctrl-C comes before its response", async () => {
    const times = { created_at: "2026-01-01T00:00:00Z", started_at: null, completed_at: null };
    let isCancelled = false;
    let child: ChildProcess | undefined;
    respond = ({ line }) => {
      if (line.includes("/workflows/")) return workflow;
      if (line.includes("/stream")) return undefined;
      if (line.startsWith("DELETE")) isCancelled = true;
      if (line.startsWith("POST")) child?.kill("SIGINT");
      const status = isCancelled ? "cancelled" : "running";
      return { body: { run_id: "r", data: { run_id: "r", status, error_message: "", ...times } } };
    };
    const args = ["run", "scan", "--json", "--url", stub.url, "--token", "t0ken"];
    const started = startCommand(args, { cwd: folder });
    child = started.child;
    expect(await started.ended).toMatchObject({ code: 130, error: expect.stringContaining("Cancelling") });
    expect(requests()).toContain("DELETE /automation/runs/r");
  });
});

test("runs are repeated with other parameters", async () => {
  respond = () => ({ status: 202, body: { message: "", run_id: "r2" } });
  expect((await command(["runs", "rerun", "r1", "-p", "depth=3"])).out).toBe("r2\n");
  expect((await command(["runs", "resume", "r1"])).out).toBe("r2\n");
  expect(requests()).toEqual(["POST /automation/runs/r1/rerun", "POST /automation/runs/r1/resume"]);
  expect(bodies()).toEqual([{ params: { depth: "3" } }]);
});

test("an unexpected response is reported without a stack trace", async () => {
  for (const args of [["runs"], ["runs", "show", "x"], ["functions"], ["assets"]]) {
    for (const body of ["<html>", '{"data": {}}', "{}"].slice(0, args.includes("show") ? 1 : 3)) {
      respond = () => ({ body });
      const { code, out, error } = await command(args);
      expect([code, out]).toEqual([1, ""]);
      expect(error).toMatch(/^weft: (The server's response is|The server at \S+ is not Weft: GET) [^\n]*\n/);
    }
  }
});
