import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { closeSync, fchmodSync, fstatSync, openSync, statSync } from "node:fs";
import { performance } from "node:perf_hooks";
import type { CommandOutcome } from "../../commands.ts";
import { PlatformFault } from "../../faults.ts";
import type { Leftovers } from "./leftovers.ts";
import { type CommandMessage, TOKEN_VARIABLE } from "./protocol.ts";

/** Between the polite signal and the one that cannot be refused. */
export const END_GRACE_MS = 500;
/** How long output is still read from a pipe that something outside the group keeps open. */
const DRAIN_MS = 250;
/** What a timer takes; about 24 days. */
const MAX_TIMER_MS = 2 ** 31 - 1;
const STDERR_KEPT_BYTES = 4 * 1024;

type End = Pick<CommandOutcome, "exitCode" | "signal" | "timedOut" | "aborted" | "durationMs">;

interface Spec {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly token: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** What a collecting run brought. `overflow`: it was ended because it wrote more than it may. */
export interface Collected extends End {
  readonly stdout: string;
  readonly stderr: string;
  readonly overflow: boolean;
}

/** Starts programs in process groups of their own, and sees that nothing of a group outlives its leader. */
export class Processes {
  readonly #baseEnv: Readonly<Record<string, string>>;
  readonly #leftovers: Leftovers;
  readonly #groups = new Set<number>();

  constructor(baseEnv: Readonly<Record<string, string>>, leftovers: Leftovers) {
    this.#baseEnv = baseEnv;
    this.#leftovers = leftovers;
  }

  /** Runs a command with its output going straight to files. Throws PlatformFault `command_not_started`. */
  async run(request: CommandMessage, signal: AbortSignal): Promise<CommandOutcome> {
    const stdout = openOutput(request.stdoutPath);
    try {
      const stderr = openOutput(request.stderrPath);
      try {
        const end = await this.#spawn({ ...request, signal }, ["ignore", stdout, stderr]).ended;
        return { ...end, stdoutBytes: fstatSync(stdout).size, stderrBytes: fstatSync(stderr).size };
      } finally {
        closeSync(stderr);
      }
    } finally {
      closeSync(stdout);
    }
  }

  /** Runs a command and keeps what it writes, up to `maxBytes`; of stderr only the beginning. */
  async collect(spec: Spec, maxBytes: number): Promise<Collected> {
    const overflow = new AbortController();
    const signal = AbortSignal.any([spec.signal, overflow.signal]);
    const { child, ended } = this.#spawn({ ...spec, signal }, ["ignore", "pipe", "pipe"]);
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    let size = 0;
    let errorSize = 0;
    child?.stdout?.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) overflow.abort();
      else stdout.push(chunk);
    });
    child?.stderr?.on("data", (chunk: Buffer) => {
      if (errorSize < STDERR_KEPT_BYTES) stderr.push(chunk);
      errorSize += chunk.length;
    });
    const closed = child === undefined ? undefined : new Promise((resolve) => child.once("close", resolve));
    const end = await ended;
    await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, DRAIN_MS))]);
    child?.stdout?.destroy();
    child?.stderr?.destroy();
    return {
      ...end,
      stdout: Buffer.concat(stdout).toString("utf8"),
      stderr: Buffer.concat(stderr).toString("utf8", 0, STDERR_KEPT_BYTES),
      overflow: overflow.signal.aborted,
    };
  }

  /** The environment that a child gets, but for the token. */
  environment(env: Readonly<Record<string, string>>): Record<string, string> {
    return { ...this.#baseEnv, ...env };
  }

  /** Ends every process at once. */
  async endAll(): Promise<void> {
    for (const group of this.#groups) killGroup(group, "SIGKILL");
    await this.#leftovers.endAll();
  }

  #spawn(spec: Spec, stdio: StdioOptions): { child?: ChildProcess; ended: Promise<End> } {
    const started = performance.now();
    if (spec.signal.aborted) {
      const end = { exitCode: null, signal: null, timedOut: false, aborted: true, durationMs: 0 };
      return { ended: Promise.resolve(end) };
    }
    const child = launch(spec, this.environment(spec.env), stdio);
    const { pid } = child;
    if (pid !== undefined) {
      this.#groups.add(pid);
      this.#leftovers.hold(spec.token);
    }
    return { child, ended: this.#watch(child, spec, started) };
  }

  #watch(child: ChildProcess, spec: Spec, started: number): Promise<End> {
    const { pid } = child;
    let timedOut = false;
    let aborted = false;
    let grace: NodeJS.Timeout | undefined;
    const end = (): void => {
      if (pid === undefined || grace !== undefined) return;
      killGroup(pid, "SIGTERM");
      grace = setTimeout(() => killGroup(pid, "SIGKILL"), END_GRACE_MS);
    };
    const onAbort = (): void => {
      aborted = !timedOut;
      end();
    };
    const onTimeout = (): void => {
      timedOut = !aborted;
      end();
    };
    const limit = Math.min(spec.timeoutMs, MAX_TIMER_MS);
    const timer = limit > 0 ? setTimeout(onTimeout, limit) : undefined;
    spec.signal.addEventListener("abort", onAbort, { once: true });
    const settle = async (): Promise<void> => {
      clearTimeout(timer);
      clearTimeout(grace);
      spec.signal.removeEventListener("abort", onAbort);
      if (pid === undefined) return;
      killGroup(pid, "SIGKILL");
      this.#groups.delete(pid);
      await this.#leftovers.release(spec.token, timedOut || aborted);
    };
    return new Promise((resolve, reject) => {
      child.once("error", (error) => {
        // Also emitted for a signal that could not be sent; only a child without pid never started.
        if (pid === undefined) void settle().then(() => reject(notStarted(error)));
      });
      child.once("exit", (exitCode, signal) => {
        const durationMs = performance.now() - started;
        void settle().then(() => resolve({ exitCode, signal, timedOut, aborted, durationMs }));
      });
    });
  }
}

function launch(spec: Spec, env: Record<string, string>, stdio: StdioOptions): ChildProcess {
  const [program, ...args] = spec.argv;
  if (program === undefined) throw notStarted("no program was given");
  // Without this check a missing folder reads like a missing program.
  if (!statSync(spec.cwd, { throwIfNoEntry: false })?.isDirectory()) {
    throw notStarted(`no such folder: ${spec.cwd}`);
  }
  try {
    return spawn(program, args, {
      cwd: spec.cwd,
      env: { ...env, [TOKEN_VARIABLE]: spec.token },
      stdio,
      detached: true,
    });
  } catch (error) {
    throw notStarted(error);
  }
}

function killGroup(leader: number, signal: "SIGTERM" | "SIGKILL"): void {
  try {
    process.kill(-leader, signal);
  } catch {
    // The group is empty.
  }
}

function openOutput(path: string): number {
  try {
    const fd = openSync(path, "w", 0o600);
    // A file from before keeps its mode when it is opened; a device (/dev/null) is not ours to change.
    if (fstatSync(fd).isFile()) fchmodSync(fd, 0o600);
    return fd;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOSPC") throw new PlatformFault("storage_full", path, { cause: error });
    if (code === "EROFS") throw new PlatformFault("storage_read_only", path, { cause: error });
    throw notStarted(error);
  }
}

function notStarted(cause: unknown): PlatformFault {
  return new PlatformFault("command_not_started", cause instanceof Error ? cause.message : String(cause), {
    cause,
  });
}
