import { stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { processesWith, startTestRunner, type TestRunner, until } from "./test-runner.ts";

let runner: TestRunner;
beforeAll(() => {
  process.env.AWS_SECRET_ACCESS_KEY = "aws-secret";
  process.env.WEFT_ACCESS_TOKEN = "weft-secret";
});
afterAll(() => {
  delete process.env.AWS_SECRET_ACCESS_KEY;
  delete process.env.WEFT_ACCESS_TOKEN;
});

/** Counter for sleep durations that no other process on the machine uses. */
let marks = 0;
function uniqueSeconds(): string {
  marks += 1;
  return `${600 + marks}.${process.pid}`;
}

describe.each([
  ["a fresh shell", { shellsMax: 0 }],
  ...(process.platform === "linux" ? [["a pre-started shell", { prestarted: true }] as const] : []),
] as const)("in %s", (_, options) => {
  beforeAll(async () => {
    runner = await startTestRunner(options);
  });
  afterAll(() => runner.close());

  describe("a command", () => {
    test("reports its exit code, and writes its output only to the files", async () => {
      const outcome = await runner.bash("printf hello; printf oops >&2; exit 3");
      expect(outcome).toMatchObject({ exitCode: 3, signal: null, timedOut: false, aborted: false });
      expect(outcome).toMatchObject({ stdout: "hello", stdoutBytes: 5, stderrBytes: 4 });
    });

    test("is started with posix_spawn on this system", async () => {
      await runner.bash("true");
      expect(runner.warnings.map(({ message }) => message).filter((text) => /slower/.test(text))).toEqual([]);
    });

    test("replaces the output files with files that only their owner may read", async () => {
      const stdoutPath = join(runner.folder, "own");
      await runner.bash("echo a long first text", { stdoutPath });
      await runner.bash("echo x", { stdoutPath });
      const stats = await stat(stdoutPath);
      expect(stats.size).toBe(2);
      expect(stats.mode & 0o777).toBe(0o600);
    });

    test("may write to a device without changing it", async () => {
      const before = await stat("/dev/null");
      const outcome = await runner.bash("echo x", { stdoutPath: "/dev/null" });
      expect(outcome.exitCode).toBe(0);
      expect((await stat("/dev/null")).mode).toBe(before.mode);
    });

    test("has an empty standard input", async () => {
      expect((await runner.bash("wc -c")).stdout.trim()).toBe("0");
    });

    test("gets the given variables, the usual ones and its token, and none of the server's", async () => {
      const { stdout } = await runner.bash("env; cat /proc/$PPID/environ | tr '\\0' '\\n'", {
        env: { GIVEN: "a b" },
        token: "step-x",
      });
      expect(stdout).toContain("GIVEN=a b\n");
      expect(stdout).toContain("WEFT_STEP_TOKEN=step-x\n");
      expect(stdout).toContain(`PATH=${process.env.PATH}\n`);
      expect(stdout).not.toMatch(/secret|AWS_|WEFT_ACCESS|npm_|VITEST|^NODE_(?!CHANNEL)/m);
    });

    test("may override the usual variables", async () => {
      expect((await runner.bash('echo "$HOME"', { env: { HOME: "/elsewhere" } })).stdout).toBe(
        "/elsewhere\n",
      );
    });

    test("writes 10 MB in one line", async () => {
      const outcome = await runner.bash("head -c 10000000 /dev/zero | tr '\\0' x");
      expect(outcome).toMatchObject({ exitCode: 0, stdoutBytes: 10_000_000 });
    });

    test("has no exit code if a signal ended it", async () => {
      expect(await runner.bash("kill -9 $$")).toMatchObject({
        exitCode: null,
        signal: "SIGKILL",
        timedOut: false,
      });
    });

    test.each([
      ["a program that is not there", { argv: ["/no/such/program"] }],
      ["no program", { argv: [] }],
      ["a folder that is not there", { cwd: "/no/such/folder" }],
      ["a NUL in an argument", { argv: ["echo", "a\0b"] }],
      ["a variable larger than the system takes", { env: { BIG: "x".repeat(3_000_000) } }],
    ])("with %s is not started", async (_, options) => {
      await expect(runner.bash("true", options)).rejects.toMatchObject({ code: "command_not_started" });
    });

    test("is not started if its output files cannot be opened", async () => {
      const stdoutPath = join(runner.folder, "missing", "out");
      await expect(runner.bash("true", { stdoutPath })).rejects.toMatchObject({
        code: "command_not_started",
      });
    });
  });

  describe("the end of a command", () => {
    test("kills its background processes", async () => {
      const seconds = uniqueSeconds();
      const outcome = await runner.bash(`sleep ${seconds} & echo started`);
      expect(outcome).toMatchObject({ exitCode: 0, stdout: "started\n" });
      await until(async () => (await processesWith(seconds)).length === 0, 1_000);
    });

    test("by timeout kills the whole group and keeps the output", async () => {
      const seconds = uniqueSeconds();
      const outcome = await runner.bash(`echo before; sleep ${seconds} & sleep ${seconds}`, {
        timeoutMs: 200,
      });
      expect(outcome).toMatchObject({ timedOut: true, aborted: false, exitCode: null, stdout: "before\n" });
      expect(outcome.durationMs).toBeLessThan(5_000);
      await until(async () => (await processesWith(seconds)).length === 0, 1_000);
    });

    test("cannot be prevented", async () => {
      const outcome = await runner.bash("trap '' TERM; while :; do sleep 0.05; done", { timeoutMs: 200 });
      expect(outcome).toMatchObject({ timedOut: true, signal: "SIGKILL" });
    });

    test("follows the abort of its caller", async () => {
      const seconds = uniqueSeconds();
      const controller = new AbortController();
      const ended = runner.bash(`sleep ${seconds}`, { signal: controller.signal, timeoutMs: 0 });
      await until(async () => (await processesWith(seconds)).length > 0);
      controller.abort();
      expect(await ended).toMatchObject({ aborted: true, timedOut: false });
    });

    test("precedes the start if its caller has already aborted", async () => {
      const outcome = await runner.bash("echo ran", { signal: AbortSignal.abort() });
      expect(outcome).toMatchObject({ aborted: true, exitCode: null, stdout: "" });
    });

    test.runIf(process.platform === "linux")(
      "by its time limit reaches a daemon outside the group",
      async () => {
        const seconds = uniqueSeconds();
        const outcome = await runner.bash(`setsid sleep ${seconds} & sleep 60`, { timeoutMs: 300 });
        expect(outcome.timedOut).toBe(true);
        expect(await processesWith(seconds)).toEqual([]);
      },
    );

    test.runIf(process.platform === "linux")(
      "is followed by the end of daemons, with a warning",
      async () => {
        const seconds = uniqueSeconds();
        runner.warnings.length = 0;
        const daemon = `setsid bash -c 'echo $$ > daemon; exec sleep ${seconds}' &`;
        const { stdout } = await runner.bash(`${daemon} until [ -s daemon ]; do :; done; cat daemon`);
        expect(Number(stdout)).toBeGreaterThan(1);
        await until(async () => (await processesWith(seconds)).length === 0);
        await until(() => runner.warnings.length > 0);
        expect(runner.warnings).toContainEqual(expect.objectContaining({ fields: { count: 1 } }));
      },
    );

    test.runIf(process.platform === "linux")("spares other commands of the same step", async () => {
      const token = `shared-${process.pid}`;
      const other = runner.bash("sleep 1; echo survived", { token });
      expect(await runner.bash("sleep 60", { token, timeoutMs: 100 })).toMatchObject({ timedOut: true });
      expect(await other).toMatchObject({ exitCode: 0, stdout: "survived\n" });
    });
  });
});
