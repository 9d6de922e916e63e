import { readFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { CommandRequest } from "../../commands.ts";
import { loadLibc } from "./libc.ts";
import { PosixSpawner } from "./posix-spawner.ts";
import { PrestartedShells } from "./prestarted-shells.ts";
import { startTestRunner, type TestRunner, until, waitingShells } from "./test-runner.ts";

/**
 * Prints the state of a shell. Two variables are left out: every command of a shell sets them. Of two shells that are
 * compared, one may see the next second begin.
 */
const STATE = `
trap -p; alias; declare -f; set +o; shopt; umask; ulimit -a; nice; dirs; jobs; hash; times | wc -l
echo "$0|$-|$#|$*|$?|$!|$_|$IFS|$SHLVL|$BASH_SUBSHELL|$LINENO|$OPTIND|$((SECONDS > 1))|$BASH_EXECUTION_STRING"
declare -p | grep -vE '^declare \\S+ (BASH_ARGC|PIPESTATUS|RANDOM|SRANDOM|PPID|BASHPID|EPOCH\\w+|SECONDS|_)\\b'
tr '\\0' '\\n' </proc/$$/environ | grep -v BASH_ENV | sed '/^$/d' | sort
tr '\\0' '|' </proc/$$/cmdline | sed 's/|*$//'; echo
cat /proc/$$/cgroup /proc/$$/oom_score_adj
grep -E '^(Sig[^Q]|Shd|Uid|Gid|Groups|Umask|NoNewPrivs|Seccomp|Cap)' /proc/$$/status
readlink /proc/$$/cwd /proc/$$/exe; cd /proc/$$/fd; echo *; readlink 0 1 2 | sed 's/[0-9]*$//'
cut -d ' ' -f 5,6,7 /proc/$$/stat | sed "s/\\b$$\\b/self/g"; ps -o args= -p $$ | head -c 12
`;

const SCRIPTS: Readonly<Record<string, string>> = {
  "its state": STATE,
  "the first values": 'echo "$_|$?|$!|$#"; echo "$0 $- $_"',
  "an exit code": "exit 7",
  "the exit code of its last command": "true; (exit 9)",
  "a syntax error": "echo before\nif then",
  "an unfinished quote": "echo 'x",
  "an unknown command": "echo before\nweft-no-such-command",
  "a signal of its own": "kill -9 $$",
  "a signal that ends its only command": `sh -c 'kill -TERM $$'`,
  "a signal that ends its last command": `true; sh -c 'kill -TERM $$'`,
  "set -e": "set -e; false; echo not reached",
  "set -e in a function": "set -e; f() { false; echo not; }; f; echo not",
  "set -u": 'set -u; echo "$no_such_variable"; echo not',
  "set -x": "set -x; echo a; : b",
  pipefail: "set -o pipefail; false | true",
  "a trap of EXIT": "trap 'echo end $?' EXIT; exit 3",
  "a trap of ERR": "trap 'echo err $LINENO $BASH_COMMAND' ERR; false; true",
  "a trap of DEBUG": "trap 'echo at $LINENO $BASH_COMMAND' DEBUG; true; echo x",
  "a trap of TERM": "trap 'echo term; exit 5' TERM; kill -TERM $$; echo not",
  "line numbers":
    "echo $LINENO\necho $LINENO\n\nf() { caller; caller 0; echo $LINENO ${FUNCNAME[@]} ${BASH_LINENO[@]} ${#BASH_SOURCE[@]}; }\nf",
  "return outside of a function": "return 3; echo $?",
  "a here document": "cat <<END\n$((1 + 2)) $0\nEND\ncat <<'END'\n$x\nEND",
  aliases: "alias x='echo alias'; x; shopt -s expand_aliases\nalias x='echo alias'\nx",
  "extended patterns": "shopt -s extglob\n[[ aab == +(a)b ]] && echo yes",
  "background work": "sleep 0.01 & wait $!; echo $?; jobs",
  "a coprocess and process substitution":
    "cat <(echo one); coproc cat; echo two >&${COPROC[1]}; read -r x <&${COPROC[0]}; echo $x",
  "job control": "set -m; sleep 0.3 & [ $(ps -o pgid= -p $!) = $! ] && echo own group; wait",
  "standard input": "wc -c; read -r x; echo $?",
  exec: "exec echo replaced; echo not",
  "open files": "ls -l /proc/self/fd | grep -cE ' [0-9]+ -> '; exec 3>&1; echo three >&3",
  "the previous folder": "cd -; echo $?; cd /tmp; cd - >/dev/null; echo ok",
  "child environments": "env | grep -vE '^_=' | sort; env -i bash -c 'echo $SHLVL'; bash -c 'echo $SHLVL'",
  parents: "[ \"$(ps -o ppid= -p $$)\" -eq $PPID ] && sh -c '[ $PPID -gt 1 ] && echo $0' x",
  limits: "ulimit -n 64; ulimit -n; ulimit -c 0; nice -n 3 nice",
  "both outputs": "echo out; echo err >&2; printf 'no end'",
  "a closed output": "exec >&-; echo x; echo $? >&2",
  "its own files":
    "echo $BASH; type -t weft_start; compgen -A function; compgen -v | grep -iE '^(count|folder|script|out|err|variables)$'",
};

describe.runIf(process.platform === "linux")("a pre-started shell", () => {
  let fresh: TestRunner;
  let early: TestRunner;
  beforeAll(async () => {
    fresh = await startTestRunner({ shellsMax: 0 });
    early = await startTestRunner({ prestarted: true });
  });
  afterAll(async () => {
    await Promise.all([fresh.close(), early.close()]);
  });

  /** What a command leaves behind, without what differs between any two shells. */
  async function traceOf(runner: TestRunner, script: string, options: Partial<CommandRequest> = {}) {
    const files = { stdoutPath: join(runner.folder, "out"), stderrPath: join(runner.folder, "err") };
    const fixed = { token: `${runner.folder}/step`, env: { W1: "$(a) b\n", WEFT_RUN_ID: "run" }, ...files };
    const { durationMs: _, ...outcome } = await runner.bash(script, { ...fixed, ...options });
    const texts = [outcome.stdout, await readFile(files.stderrPath, "utf8")];
    const [stdout, stderr] = texts.map((text) => text.replaceAll(runner.folder, "/folder"));
    return { ...outcome, stdoutBytes: 0, stderrBytes: 0, stdout, stderr };
  }

  test("is one of those that waited", async () => {
    await early.bash("true");
    for (let n = 0; n < 3; n += 1) {
      await until(async () => (await waitingShells(early.commandsPid)).length > 0);
      const waited = await waitingShells(early.commandsPid);
      expect(waited).toContain(Number((await early.bash("echo $$")).stdout));
    }
  });

  test.each(Object.entries(SCRIPTS))("behaves as a fresh one: %s", async (_, script) => {
    expect(await traceOf(early, script)).toEqual(await traceOf(fresh, script));
  });

  test("gets any values of variables and any script unchanged", async () => {
    const text = fc.string({ unit: "binary", maxLength: 200 }).map((one) => one.replaceAll("\0", ""));
    await fc.assert(
      fc.asyncProperty(fc.array(text, { maxLength: 5 }), text, async (values, comment) => {
        const env = Object.fromEntries(values.map((value, at) => [`W${at + 1}`, value]));
        const script = `# ${comment.replaceAll(/[\r\n]/g, "")}\nfor name in \${!W*}; do [[ $name == W? ]] && printf '%s\\0' "\${!name}"; done; env -0 | grep -zE '^W[0-9]'`;
        const [one, other] = [await early.bash(script, { env }), await fresh.bash(script, { env })];
        expect(one.stdout.split("\0").sort()).toEqual(other.stdout.split("\0").sort());
        expect(one.stdout.split("\0").slice(0, values.length)).toEqual(values.map((v) => v.toWellFormed()));
      }),
      { numRuns: 25 },
    );
  });

  test.each<[string, { readonly script?: string; env?: Record<string, string>; argv?: string[] }]>([
    ["a script longer than its memory", { script: `echo $$ # ${"x".repeat(9_000)}` }],
    ["more variables than its memory holds", { env: { W1: "x".repeat(9_000) } }],
    ["a variable that takes effect when bash starts", { env: { SHELLOPTS: "errexit" } }],
    ["a variable that all commands have", { env: { HOME: "/elsewhere" } }],
    ["another program", { argv: ["sh", "-c", "echo $$"] }],
    ["arguments", { argv: ["bash", "-c", "echo $$", "name", "one"] }],
  ])("is not used for %s", async (_, { script = "echo $$", ...options }) => {
    await until(async () => (await waitingShells(early.commandsPid)).length > 0);
    const waited = await waitingShells(early.commandsPid);
    const { stdout } = await early.bash(script, options);
    expect(Number(stdout)).toBeGreaterThan(1);
    expect(waited).not.toContain(Number(stdout));
  });

  test("that does not exist is not started either", async () => {
    const missing = early.bash("true", { cwd: join(early.folder, "missing") });
    await expect(missing).rejects.toMatchObject({ code: "command_not_started" });
    await expect(missing).rejects.toThrow(/folder .* does not exist/);
  });

  test("that died while it waited, or as its command arrives, loses no command and doubles none", async () => {
    const runner = await startTestRunner();
    onTestFinished(() => runner.close());
    await runner.bash("true");
    const done: number[] = [];
    for (let n = 0; n < 20; n += 1) {
      await until(async () => (await waitingShells(runner.commandsPid)).length === 2);
      // The oldest is the first that gets a command.
      const [oldest = 0] = await waitingShells(runner.commandsPid);
      const signal = n % 2 === 0 ? "SIGKILL" : "SIGTERM";
      if (n % 3 === 0) setImmediate(() => end(oldest, signal));
      else end(oldest, signal);
      const outcome = await runner.bash(`echo ${n} >>done; exit 5`);
      // The signal may reach a shell that has its command already, as it may reach a fresh one.
      if (outcome.exitCode === 5) done.push(n);
    }
    const lines = (await readFile(join(runner.folder, "done"), "utf8")).trim().split("\n").map(Number);
    expect(new Set(lines).size).toBe(lines.length);
    expect(lines).toEqual(expect.arrayContaining(done));
    expect(done.length).toBeGreaterThan(10);
  });

  test("ends when its runner process does", async () => {
    const runner = await startTestRunner({ prestarted: true });
    onTestFinished(() => runner.close());
    await runner.bash("true");
    await until(async () => (await waitingShells(runner.commandsPid)).length === 2);
    const shells = await waitingShells(runner.commandsPid);
    process.kill(runner.commandsPid, "SIGKILL");
    await until(async () => (await Promise.all(shells.map(isGone))).every(Boolean));
  });

  test("does not exist without a command, and the fill ends at the maximum", async () => {
    const runner = await startTestRunner({ shellsMax: 1, prestarted: true });
    onTestFinished(() => runner.close());
    expect(runner.commandsPid).toBe(0);
    const outcomes = await Promise.all([1, 2, 3, 4].map((n) => runner.bash(`exit ${n}`)));
    expect(outcomes.map(({ exitCode }) => exitCode)).toEqual([1, 2, 3, 4]);
    await until(async () => (await waitingShells(runner.commandsPid)).length === 1);
  });

  test("ends when there was no command for a while, and when there will be none", async () => {
    const libc = await loadLibc();
    const spawner = new PosixSpawner(libc);
    const env = { PATH: process.env.PATH ?? "" };
    const shells = new PrestartedShells({ spawner, libc, env, max: 2, emptyAfterMs: 500 });
    onTestFinished(() => spawner.close());
    const request = { program: "bash", args: ["-c", "true"], cwd: "/", env, stdout: 1, stderr: 2 };
    expect(shells.take(request, {})).toBeUndefined();
    shells.resume();
    await until(async () => (await waitingShells(process.pid)).length === 2);
    await until(async () => (await waitingShells(process.pid)).length === 0);
    shells.resume();
    await until(async () => (await waitingShells(process.pid)).length === 2);
    shells.close();
    await until(async () => (await waitingShells(process.pid)).length === 0);
    shells.resume();
    expect(shells.take(request, {})).toBeUndefined();
  });
});

function end(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended.
  }
}

/** Whether a process has ended; it may not be reaped yet. */
async function isGone(pid: number): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return status === "" || /^State:\s*Z/m.test(status);
}
