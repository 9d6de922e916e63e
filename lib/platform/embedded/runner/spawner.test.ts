import { closeSync, openSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadLibc } from "./libc.ts";
import { nodeSpawner } from "./node-spawner.ts";
import { PosixSpawner } from "./posix-spawner.ts";
import type { ProcessExit, Spawner } from "./spawner.ts";

const linux = process.platform === "linux";
const opened: Record<string, () => Promise<Spawner>> = {
  node: async () => nodeSpawner,
  ...(linux ? { posix_spawn: async () => new PosixSpawner(await loadLibc()) } : {}),
};

describe.each(Object.keys(opened))("a program started by %s", (name) => {
  let spawner: Spawner;
  let folder: string;
  beforeAll(async () => {
    spawner = await (opened[name] ?? opened.node!)();
    folder = await mkdtemp(join(tmpdir(), "weft-spawner-"));
    await mkdir(join(folder, "bin"));
    await writeFile(join(folder, "bin", "plain"), 'echo "plain $0 $1"\n');
    await chmod(join(folder, "bin", "plain"), 0o755);
    await writeFile(join(folder, "bin", "closed"), "#!/bin/sh\n", { mode: 0o600 });
  });
  afterAll(async () => {
    spawner.close();
    await rm(folder, { recursive: true, force: true });
  });

  const usual = { PATH: process.env.PATH ?? "" };
  let files = 0;
  async function run(
    [program = "", ...args]: readonly string[],
    env: Readonly<Record<string, string>> = usual,
    cwd = folder,
  ): Promise<ProcessExit & { pid: number; stdout: string }> {
    files += 1;
    const path = join(folder, `out-${files}`);
    const out = openSync(path, "w");
    try {
      const { pid, exited } = await spawner.spawn({ program, args, cwd, env, stdout: out, stderr: out });
      return { pid, ...(await exited), stdout: await readFile(path, "utf8") };
    } finally {
      closeSync(out);
    }
  }

  test("reports its exit code or its signal", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 255 }), async (code) => {
        expect(await run(["sh", "-c", `exit ${code}`])).toMatchObject({ exitCode: code, signal: null });
      }),
      { numRuns: 20 },
    );
    for (const signal of ["SIGABRT", "SIGTERM", "SIGPIPE", "SIGSEGV", "SIGIO"]) {
      const outcome = await run(["sh", "-c", `ulimit -c 0; kill -${signal.slice(3)} $$`]);
      expect(outcome).toMatchObject({ exitCode: null, signal });
    }
  });

  test("gets its arguments and environment unchanged, except for unpaired surrogates", async () => {
    const text = fc.string({ unit: "binary" }).map((one) => one.replaceAll("\0", ""));
    const name = fc.stringMatching(/^[A-Z]{1,8}$/).map((one) => `X_${one}`);
    await fc.assert(
      fc.asyncProperty(fc.array(text), fc.dictionary(name, text), async (args, given) => {
        const env = { ...given, PATH: "/usr/bin:/bin" };
        const printed = await run(["printf", "%s\\0", "", ...args], env);
        expect(printed.stdout.split("\0").slice(1, -1)).toEqual(args.map((one) => one.toWellFormed()));
        const { stdout } = await run(["env", "-0"], env);
        const lines = Object.entries(env).map(([key, value]) => `${key}=${value}`.toWellFormed());
        expect(stdout.split("\0").slice(0, -1).sort()).toEqual(lines.sort());
      }),
      { numRuns: 30 },
    );
  });

  test("is searched along its PATH, in order, and relative to its folder", async () => {
    const path = `/nowhere::/bin/sh:${join(folder, "closed")}:bin:/usr/bin:/bin`;
    expect((await run(["plain", "x"], { PATH: path })).stdout).toMatch(/^plain .*bin\/plain x\n$/);
    expect((await run(["./bin/plain", "y"])).stdout).toMatch(/^plain .*bin\/plain y\n$/);
    expect((await run(["plain"], { PATH: "." }, join(folder, "bin"))).exitCode).toBe(0);
    expect((await run(["sh", "-c", "echo $0"], {})).exitCode).toBe(0);
  });

  test.each([
    ["is nowhere", ["weft-nowhere"], "spawn weft-nowhere ENOENT"],
    ["is no file", ["/nowhere/program"], "spawn /nowhere/program ENOENT"],
    ["may not be executed", ["./bin/closed"], "spawn ./bin/closed EACCES"],
    ["has no name", [""], /./],
    ["has a NUL in an argument", ["echo", "a\0b"], /./],
    ["has an argument larger than the system takes", ["echo", "x".repeat(3_000_000)], /E2BIG/],
  ])("that %s is refused with its fault", async (_, argv, message) => {
    const refused = expect(run(argv)).rejects;
    await refused.toMatchObject({ code: "command_not_started" });
    await expect(run(argv)).rejects.toThrow(message);
  });

  test("is rejected if a variable contains NUL or the folder is missing", async () => {
    const code = "command_not_started";
    await expect(run(["true"], { ...usual, A: "a\0b" })).rejects.toMatchObject({ code });
    await expect(run(["true"], usual, join(folder, "missing"))).rejects.toThrow(/folder .* does not exist/);
  });

  test.runIf(linux)(
    "leads a session, with no ignored or blocked signals and no inherited files",
    async () => {
      const ignored = (): void => {};
      process.on("SIGPIPE", ignored);
      const { pid, stdout } = await run(["cat", "/proc/self/stat", "/proc/self/status"]);
      process.off("SIGPIPE", ignored);
      expect(stdout.split(" ").slice(4, 6)).toEqual([String(pid), String(pid)]);
      // Two signals that the C library reserves are unchanged.
      expect(stdout).toMatch(/^SigIgn:\t0+(180000000)?$/m);
      expect(stdout).toMatch(/^SigBlk:\t0+$/m);
      const held = openSync(join(folder, "held"), "w");
      const { stdout: files } = await run(["ls", "-l", "/proc/self/fd"]);
      closeSync(held);
      expect(files).toMatch(/ 0 -> \/dev\/null$/m);
      expect(files).not.toContain("held");
      expect(files).not.toContain("socket:");
    },
  );

  test("reports its own end when hundreds end at the same time", async () => {
    const codes = Array.from({ length: 200 }, (_, n) => n % 7);
    const outcomes = await Promise.all(codes.map((code) => run(["sh", "-c", `exit ${code}`])));
    expect(outcomes.map(({ exitCode }) => exitCode)).toEqual(codes);
    expect(new Set(outcomes.map(({ pid }) => pid)).size).toBe(codes.length);
  });
});
