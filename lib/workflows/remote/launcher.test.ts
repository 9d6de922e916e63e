import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { killScript, LAUNCH, LAUNCH_LINE, launcherInput } from "./launcher.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "weft-launcher-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

let tokens = 0;
const newToken = (): string => {
  tokens += 1;
  return `test-${process.pid}/${tokens}`;
};

interface Launched {
  readonly code: number | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** Starts the launcher as another machine does; closes its standard input after `endAfter`. */
function launch(
  command: { script: string; env?: Record<string, string>; workdir?: string; token?: string },
  options: { argv?: readonly string[]; endAfter?: Promise<unknown> } = {},
): Promise<Launched> {
  const [program = "", ...args] = options.argv ?? LAUNCH;
  const child = spawn(program, args, { cwd: folder, stdio: ["pipe", "pipe", "pipe"] });
  const stdout: Buffer[] = [];
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  child.stdin.on("error", () => undefined);
  child.stdin.write(launcherInput({ env: {}, token: newToken(), ...command }));
  void options.endAfter?.then(() => child.stdin.end());
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, stdout: Buffer.concat(stdout), stderr }));
  });
}

async function until(check: () => Promise<boolean> | boolean): Promise<void> {
  const end = performance.now() + 10_000;
  while (!(await check())) {
    if (performance.now() > end) throw new Error("it never came true");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

/** Login shells that hosts and small containers have, as far as they are installed here. */
const shells: readonly (readonly [name: string, argv: readonly string[]])[] = [
  ["the shell of this machine", LAUNCH],
  ["a login shell", ["sh", "-c", LAUNCH_LINE]],
  ["a login shell that is bash", ["bash", "-c", LAUNCH_LINE]],
  ["sh without bash", ["sh", "-c", LAUNCH[3] ?? "", "sh"]],
];

describe("the launcher of remote commands", () => {
  it.each(shells)("%s: streams, exit code, empty standard input", async (_, argv) => {
    const script = "echo out; echo err >&2; wc -c | tr -d ' '; exit 3";
    const { code, stdout, stderr } = await launch({ script }, { argv });
    expect([code, stdout.toString(), stderr]).toEqual([3, "out\n0\n", "err\n"]);
  });

  it.each(shells)("%s: preserves any text as a value", async (_, argv) => {
    const text = fc.oneof(
      fc.string({ unit: "binary", maxLength: 60 }),
      fc.string({
        unit: fc.constantFrom("'", '"', "\\", "$", "`", "\n", "\r", "(", "!", "id", ";", "\u007f", "€"),
        maxLength: 30,
      }),
    );
    const values = text.map((value) => value.replaceAll("\0", "").toWellFormed());
    await fc.assert(
      fc.asyncProperty(fc.array(values, { minLength: 40, maxLength: 40 }), async (all) => {
        const env = Object.fromEntries(all.map((value, index) => [`W${index}`, value]));
        const script = all.map((_value, index) => `printf '%s\\0' "\${W${index}}"`).join("\n");
        const { code, stdout } = await launch({ script, env }, { argv });
        expect(code).toBe(0);
        expect(stdout.toString().split("\0").slice(0, -1)).toEqual(all);
      }),
      { numRuns: 10 },
    );
  });

  it("passes a value of 2 MB to the script, but not through the environment", async () => {
    const env = { W1: "x".repeat(2_000_000), W2: "small" };
    const script = 'printf %s "$W1" | wc -c; env | grep -c "^W1="; sh -c \'echo "$W2"\'';
    const { stdout } = await launch({ script, env });
    expect(stdout.toString().replaceAll(" ", "")).toBe("2000000\n0\nsmall\n");
  });

  it("rejects a NUL, and an input larger than 32 MB", () => {
    const token = "t";
    expect(() => launcherInput({ script: "true", env: { W1: "a\0b" }, token })).toThrow(/NUL/);
    expect(() => launcherInput({ script: "a\0", env: {}, token })).toThrow(/NUL/);
    expect(() => launcherInput({ script: "x".repeat(33 * 1024 * 1024), env: {}, token })).toThrow(
      /more than/,
    );
  });

  it("changes to the working folder, whatever its name, or fails the command", async () => {
    expect((await launch({ script: "pwd", workdir: "/usr/lib" })).stdout.toString()).toBe("/usr/lib\n");
    const { code, stdout, stderr } = await launch({ script: "echo ran", workdir: "/no/$(id) 'x" });
    expect([code === 0, stdout.toString()]).toEqual([false, ""]);
    expect(stderr).toContain("/no/$(id) 'x");
  });

  it.each(shells)("%s: kills the command and its child processes when its input ends", async (_, argv) => {
    const pids = join(await mkdtemp(join(folder, "pids-")), "list");
    const script = `trap '' TERM HUP; note() { echo $1 >> '${pids}'; }
setsid sh -c 'echo $$ >> "$0"; exec sleep 600' '${pids}' & sleep 600 & note $!; note $$; wait; echo no`;
    const list = async (): Promise<number[]> =>
      existsSync(pids) ? (await readFile(pids, "utf8")).trim().split("\n").map(Number) : [];
    const started = until(async () => (await list()).length === 3);
    const { code, stdout } = await launch({ script }, { argv, endAfter: started });
    expect([code === 0, stdout.toString()]).toEqual([false, ""]);
    const all = await list();
    await until(() => !all.some(isAlive));
  });

  it("kills processes that the command leaves running", async () => {
    const { code, stdout } = await launch({
      script: "sleep 600 & a=$!; setsid sleep 600 >/dev/null 2>&1 & echo $a $!; exit 0",
    });
    expect(code).toBe(0);
    const pids = stdout.toString().trim().split(" ").map(Number);
    expect(pids).toHaveLength(2);
    await until(() => !pids.some(isAlive));
  });

  it("kills commands of an earlier attempt by their tokens, and no others", async () => {
    const script = 'echo $$ > "$WHERE"; exec sleep 600';
    const where = (name: string) => join(folder, name);
    const stop = Promise.withResolvers<void>();
    const ended = ["run/a/1/0", "run/a/1/1", "run/a/10/0"].map((token, index) =>
      launch({ script, token, env: { WHERE: where(`w${index}`) } }, { endAfter: stop.promise }),
    );
    const pidOf = async (index: number): Promise<number> =>
      existsSync(where(`w${index}`)) ? Number(await readFile(where(`w${index}`), "utf8")) : 0;
    await until(async () => (await Promise.all([0, 1, 2].map(pidOf))).every((pid) => pid > 0));
    await launch({ script: killScript(["run/a/1/"]) });
    expect((await Promise.all(ended.slice(0, 2))).map(({ code }) => code)).toEqual([137, 137]);
    expect(isAlive(await pidOf(2))).toBe(true);
    stop.resolve();
    await Promise.all(ended);
  });
});
