import { closeSync, fchmodSync, fstatSync, openSync } from "node:fs";
import { isMainThread } from "node:worker_threads";
import type { CommandOutcome, CommandRequest, Commands } from "../../commands.ts";
import { PlatformFault } from "../../faults.ts";
import type { Log } from "../../log.ts";
import type { Leftovers } from "./leftovers.ts";
import { nodeSpawner } from "./node-spawner.ts";
import { Processes } from "./processes.ts";
import { TOKEN_VARIABLE } from "./protocol.ts";
import { type Spawner, startFailure } from "./spawner.ts";
import type { Watchdog } from "./watchdog.ts";

/** Milliseconds that `close` waits for killed processes. */
const CLOSE_LIMIT_MS = 3_000;

/** Runs commands as children of this process, which is not the server; their output goes directly to files. */
export class FileCommands implements Commands {
  readonly #baseEnv: Readonly<Record<string, string>>;
  readonly #log: Log;
  readonly #processes: Processes;
  readonly #underWay = new Set<Promise<unknown>>();
  #spawner: Promise<Spawner> | undefined;
  #closed = false;

  constructor(baseEnv: Readonly<Record<string, string>>, leftovers: Leftovers, watchdog: Watchdog, log: Log) {
    this.#baseEnv = baseEnv;
    this.#log = log;
    this.#processes = new Processes(leftovers, watchdog);
  }

  /** Rejects with PlatformFault `command_not_started`, and `unavailable` after `close`. */
  async run(request: CommandRequest): Promise<CommandOutcome> {
    if (this.#closed) throw new PlatformFault("unavailable", "the command runner is closed");
    const running = this.#run(request);
    this.#underWay.add(running);
    try {
      const outcome = await running;
      if (this.#closed)
        throw new PlatformFault("unavailable", "the command was ended because the server stopped");
      return outcome;
    } finally {
      this.#underWay.delete(running);
    }
  }

  /** Ends every process; pending commands are rejected. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#processes.endAll();
    const late = new Promise((resolve) => setTimeout(resolve, CLOSE_LIMIT_MS).unref());
    await Promise.race([Promise.allSettled(this.#underWay), late]);
    (await this.#spawner)?.close();
  }

  async #run(request: CommandRequest): Promise<CommandOutcome> {
    const { cwd, token, timeoutMs, signal } = request;
    const [program, ...args] = request.argv;
    if (program === undefined) throw startFailure("the program is missing");
    const env = { ...this.#baseEnv, ...request.env, [TOKEN_VARIABLE]: token };
    this.#spawner ??= openSpawner(this.#log);
    const spawner = await this.#spawner;
    const stdout = openOutput(request.stdoutPath);
    try {
      const stderr = openOutput(request.stderrPath);
      try {
        const end = await this.#processes.run({ token, timeoutMs, signal }, () => {
          if (this.#closed) throw new PlatformFault("unavailable", "the command runner is closed");
          return spawner.spawn({ program, args, cwd, env, stdout, stderr });
        });
        return { ...end, stdoutBytes: fstatSync(stdout).size, stderrBytes: fstatSync(stderr).size };
      } finally {
        closeSync(stderr);
      }
    } finally {
      closeSync(stdout);
    }
  }
}

/** Loaded with the first command, to save memory in installations that run none. */
async function openSpawner(log: Log): Promise<Spawner> {
  if (process.platform !== "linux" || !isMainThread) return nodeSpawner;
  try {
    const [{ PosixSpawner }, { loadLibc }] = await Promise.all([
      import("./posix-spawner.ts"),
      import("./libc.ts"),
    ]);
    return new PosixSpawner(await loadLibc());
  } catch (error) {
    log.warn("posix_spawn is not available: Node starts commands, which is slower", { error: String(error) });
    return nodeSpawner;
  }
}

function openOutput(path: string): number {
  try {
    const fd = openSync(path, "w", 0o600);
    const stats = fstatSync(fd);
    // An existing file keeps its mode when it is opened; the mode of a device (/dev/null) must not change.
    if (stats.isFile() && (stats.mode & 0o777) !== 0o600) fchmodSync(fd, 0o600);
    return fd;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOSPC") throw new PlatformFault("storage_full", path, { cause: error });
    if (code === "EROFS") throw new PlatformFault("storage_read_only", path, { cause: error });
    throw startFailure(error);
  }
}
