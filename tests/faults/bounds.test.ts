import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startTestServer, type TestServer, waitUntil } from "../../lib/testing/test-server.ts";

const MB = 1024 * 1024;
/** The limit for a response while other requests misbehave, milliseconds. */
const RESPONSIVE_MS = 1_000;
/** Length of a tick, the unit of `utime` and `stime` in `/proc/PID/stat`. */
const TICK_MS = 10;

let weft: TestServer;
let workflowCount = 0;
let requests = 0;
/** The slowest response to GET /health during the test, milliseconds. */
let slowest = 0;
let watching = false;
let watch: Promise<void>;

beforeAll(async () => {
  weft = await startTestServer();
});
afterAll(() => weft[Symbol.asyncDispose]());
beforeEach(() => {
  requests = 0;
  slowest = 0;
  watching = true;
  watch = (async () => {
    while (watching) {
      const { answer, ms } = await timed(() => weft.call("GET", "//health"));
      expect(answer.status).toBe(200);
      requests += 1;
      slowest = Math.max(slowest, ms);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
});
afterEach(async () => {
  watching = false;
  await watch;
  expect(requests).toBeGreaterThan(0);
  expect(slowest).toBeLessThan(RESPONSIVE_MS);
});

/**
 * Times a call: the wall time or the CPU time of the server, whichever is less. The remaining wall time belongs to
 * other processes of the machine.
 */
async function timed<T>(call: () => Promise<T>): Promise<{ answer: T; ms: number }> {
  const started = performance.now();
  const cpuBefore = await cpuMs();
  const answer = await call();
  return { answer, ms: Math.min(performance.now() - started, (await cpuMs()) - cpuBefore) };
}

/** CPU time of the server so far, without its children; the wall time on platforms without /proc. */
async function cpuMs(): Promise<number> {
  if (process.platform !== "linux") return performance.now();
  const stat = await readFile(`/proc/${weft.pid}/stat`, "utf8");
  const [user = 0, system = 0] = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .slice(11, 13)
    .map(Number);
  return (user + system) * TICK_MS;
}

async function runSteps(steps: string) {
  workflowCount += 1;
  await weft.storeWorkflow(`name: w${workflowCount}\nsteps:\n${steps}`);
  const run = await weft.run({ module: `w${workflowCount}`, workspace: `w${workflowCount}` });
  return {
    ...run,
    steps: await weft.steps(run.run_id),
    folder: join(weft.dataDir, "workspaces", `w${workflowCount}`),
  };
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

describe("commands", () => {
  test("keeps a line of 10 MB and an output of 60 MB in the log file, truncates and renders them", async () => {
    const { status, steps, run_id } = await runSteps(`
  - {name: line, type: bash, command: "head -c ${10 * MB} /dev/zero | tr '\\\\0' x"}
  - {name: flood, type: bash, command: "head -c ${60 * MB} /dev/zero | tr '\\\\0' '\\\\n' ; echo end"}
  - {name: size, type: bash, command: "printf %s {{line_output}} | wc -c"}
  - {name: errors, type: bash, command: "head -c ${10 * MB} /dev/zero | tr '\\\\0' e >&2; exit 1"}
`);
    expect(status).toBe("failed");
    expect(steps).toMatchObject({ line: { output_truncated: true }, size: { output: String(10 * MB) } });
    expect(steps["line"]?.output.length).toBeLessThan(64 * 1024);
    expect(steps["errors"]?.error_message.length).toBeLessThan(8 * 1024);
    const file = join(weft.dataDir, "runs", run_id, steps["flood"]?.log_file ?? "");
    expect((await stat(file)).size).toBe(60 * MB + 4);
    expect((await weft.call("GET", `/runs/${run_id}/steps`)).text.length).toBeLessThan(200 * 1024);
  });

  test("ends the daemons that a step forks", async () => {
    const { status, steps, folder } = await runSteps(`
  - name: forks
    type: bash
    timeout: 20
    command: |
      setsid sleep 301 & echo $! > one
      (setsid nohup bash -c 'trap "" HUP TERM; echo $$ > two; exec sleep 302' > /dev/null 2>&1 &)
      until [ -s two ]; do sleep 0.01; done
      echo forked
`);
    expect([status, steps["forks"]?.output]).toEqual(["completed", "forked"]);
    for (const name of ["one", "two"]) {
      const pid = Number(await readFile(join(folder, name), "utf8"));
      await waitUntil(`the end of daemon ${name}`, () => !isAlive(pid));
    }
  });
});

describe("functions", () => {
  test("ends functions that loop, recurse, allocate or never return, with the reason", async () => {
    const bad: Record<string, [code: string, reason: RegExp]> = {
      loops: ["while (true) {}", /timed out/],
      recurses: ["const f = () => f() + 1; f()", /stack|recurs/i],
      allocates: ["const a = []; for (;;) a.push('x'.repeat(1000000) + a.length)", /memory|timed out/i],
      grows: ["let s = 'x'; for (;;) s += s", /memory|length|timed out|too long/i],
      matches: ["/(a+)+$/.test('a'.repeat(50) + 'b')", /timed out/],
      promises: ["const f = () => Promise.resolve().then(f); f()", /timed out|memory/],
      catches: ["for (;;) { try { for (;;) {} } catch {} }", /timed out/],
      waits: ["exec_cmd('sleep 100')", /timed out/],
    };
    const { steps } = await runSteps(
      `  - name: all
    type: parallel-steps
    parallel_steps:
${Object.entries(bad)
  .map(
    ([name, [code]]) =>
      `      - {name: ${name}, type: function, timeout: 1, function: ${JSON.stringify(code)}}`,
  )
  .join("\n")}
    on_error: [{action: continue}]
  - {name: after, type: function, function: "40 + 2"}`,
    );
    for (const [name, [, reason]] of Object.entries(bad)) {
      expect([name, steps[name]?.status]).toEqual([name, "failed"]);
      expect([name, steps[name]?.error_message]).toEqual([name, expect.stringMatching(reason)]);
    }
    expect(steps["after"]?.output).toBe("42");
  });

  test("keeps large results and events whole and rejects results above the limit", async () => {
    const { steps } = await runSteps(`
  - {name: large, type: function, function: "'x'.repeat(5000000)"}
  - {name: size, type: bash, command: "printf %s {{large_output}} | wc -c"}
  - {name: event, type: function, function: 'generate_event("w", "custom.big", "", "", {text: "y".repeat(500000)})'}
  - {name: huge, type: function, function: "'x'.repeat(40000000)"}
`);
    expect(steps["size"]?.output).toBe("5000000");
    const [event] = await weft.events({ topic: "custom.big" });
    expect(JSON.parse(event?.data ?? "").text).toHaveLength(500_000);
    expect(steps["huge"]?.status).toBe("failed");
  });
});

describe("definitions", () => {
  const post = (body: string) =>
    weft.call("POST", "/workflows", { body, headers: { "content-type": "application/yaml" } });
  const lines = (count: number, line: (n: number) => string) =>
    Array.from({ length: count }, (_, n) => line(n)).join("\n");

  test.each([
    [
      "an alias bomb",
      `a: &a [x,x,x,x,x,x,x,x,x]\n${lines(12, (n) => `${"bcdefghijklmn"[n]}: &${"bcdefghijklmn"[n]} [${Array(9).fill(`*${"abcdefghijklmn"[n]}`).join(",")}]`)}\nname: bomb\nsteps: [{name: s, type: bash, command: a}]`,
    ],
    [
      "20,000 keys",
      `name: bomb\nsteps: [{name: s, type: bash, command: a}]\n${lines(20_000, (n) => `k${n}: 1`)}`,
    ],
    [
      "20,000 keys in one map",
      `name: bomb\nsteps: [{name: s, type: bash, command: a, exports: {${Array.from({ length: 20_000 }, (_, n) => `k${n}: v`).join(", ")}}}]`,
    ],
    ["lists 5,000 deep", `name: bomb\nsteps: ${"[".repeat(5_000)}${"]".repeat(5_000)}`],
    ["maps 5,000 deep", lines(300, (n) => `${" ".repeat(n)}a:`)],
    ["a text of 900 KB", `name: bomb\nsteps: [{name: s, type: bash, command: "${"x".repeat(900_000)}"}]`],
    ["100,000 anchors", `name: bomb\nsteps: [${"&a a,".repeat(100_000)}]`],
    ["1,200 steps", `name: bomb\nsteps:\n${lines(1_200, (n) => `- {name: s${n}, type: bash, command: a}`)}`],
    [
      "a merge key that is a bomb",
      `a: &a {x: 1}\nname: bomb\nsteps: [{name: s, type: bash, command: a, exports: {<<: [${Array(2_000).fill("*a").join(",")}]}}]\nb: [${"*a,".repeat(9_000)}]`,
    ],
    ["a cyclic alias", "name: bomb\nsteps: &s [*s]"],
    ["a tag of code", "name: bomb\nsteps: !!js/function 'function () {}'"],
  ])("returns 400 for %s without delay", async (_name, body) => {
    const { answer, ms } = await timed(() => post(body));
    expect(ms).toBeLessThan(RESPONSIVE_MS);
    expect([answer.status, answer.json]).toEqual([400, { error: true, message: expect.stringMatching(/./) }]);
    expect(answer.message.length).toBeLessThan(20_000);
  });

  test.each(["__proto__", "constructor", "prototype", "toString"])(
    "a key %s does not affect other workflows",
    async (key) => {
      await post(
        `name: proto\n${key}: {name: x, polluted: yes}\nsteps: [{name: s, type: bash, command: "echo <{{${key}}}{{polluted}}>", exports: {${key}: "v"}}]`,
      );
      await weft.storeWorkflow(
        "name: clean\nsteps: [{name: s, type: bash, command: 'echo \"<{{polluted}}{{toString}}>\"'}]",
      );
      const run = await weft.run({ module: "clean", params: { [key]: "p" } });
      expect((await weft.steps(run.run_id))["s"]?.output).toBe(key === "toString" ? "<p>" : "<>");
    },
  );
});

describe("callers", () => {
  test("serves 200 concurrent connections without losing an event", async () => {
    const before = (await weft.events({ topic: "custom.many" })).length;
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, n) =>
        weft.call("POST", "/events/emit", { body: { topic: "custom.many", data: { n } } }),
      ),
    );
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    const events = await weft.events({ topic: "custom.many" });
    expect(events.length).toBe(before + 200);
    expect(new Set(events.map(({ data }) => data)).size).toBe(200);
  });
});
