import { closeSync, fchmodSync, fstatSync, openSync } from "node:fs";
import { isMainThread } from "node:worker_threads";
import type { CommandOutcome, CommandRequest, Commands } from "../../commands.ts";
import { PlatformFault } from "../../faults.ts";
import type { Log } from "../../log.ts";
import type { Leftovers } from "./leftovers.ts";
import { nodeSpawner } from "./node-spawner.ts";
import type { PrestartedShell } from "./prestarted-shell.ts";
import { PrestartedShells, type PrestartedShellsOptions } from "./prestarted-shells.ts";
import { type ProcessEnd, Processes } from "./processes.ts";
import { TOKEN_VARIABLE } from "./protocol.ts";
import { type Spawner, type SpawnRequest, startFailure } from "./spawner.ts";
import type { Watchdog } from "./watchdog.ts";

/** Milliseconds that `close` waits for killed processes. */
const CLOSE_LIMIT_MS = 3_000;

/** Runs commands as children of this process, which is not the server; their output goes directly to files. */
export class FileCommands implements Commands {
  readonly #baseEnv: Readonly<Record<string, string>>;
  readonly #log: Log;
  readonly #processes: Processes;
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #shellsMax: number;
  #launcher: Promise<Launcher> | undefined;
  #shells: PrestartedShells | undefined;
  #closed = false;

  /** `shellsMax`: how many pre-started shells wait at most. */
  constructor(
    baseEnv: Readonly<Record<string, string>>,
    { leftovers, watchdog }: { readonly leftovers: Leftovers; readonly watchdog: Watchdog },
    log: Log,
    shellsMax: number,
  ) {
    this.#baseEnv = baseEnv;
    this.#log = log;
    this.#processes = new Processes(leftovers, watchdog);
    this.#shellsMax = shellsMax;
  }

  /** Rejects with PlatformFault `command_not_started`, and `unavailable` after `close`. */
  async run(request: CommandRequest): Promise<CommandOutcome> {
    if (this.#closed) throw new PlatformFault("unavailable", "the command runner is closed");
    this.#shells?.pause();
    const running = this.#run(request);
    this.#underWay.add(running);
    try {
      const outcome = await running;
      if (this.#closed)
        throw new PlatformFault("unavailable", "the command was ended because the server stopped");
      return outcome;
    } finally {
      this.#underWay.delete(running);
      if (this.#underWay.size === 0 && !this.#closed) this.#shells?.resume();
    }
  }

  /** Ends every process; pending commands are rejected. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#shells?.close();
    await this.#processes.endAll();
    const late = new Promise((resolve) => setTimeout(resolve, CLOSE_LIMIT_MS).unref());
    await Promise.race([Promise.allSettled(this.#underWay), late]);
    (await this.#launcher)?.spawner.close();
  }

  async #run(request: CommandRequest): Promise<CommandOutcome> {
    const { cwd, token } = request;
    const [program, ...args] = request.argv;
    if (program === undefined) throw startFailure("the program is missing");
    const variables = { ...request.env, [TOKEN_VARIABLE]: token };
    const env = { ...this.#baseEnv, ...variables };
    this.#launcher ??= this.#openLauncher();
    const { spawner, shells } = await this.#launcher;
    const stdout = openOutput(request.stdoutPath);
    try {
      const stderr = openOutput(request.stderrPath);
      try {
        const launch = { program, args, cwd, env, stdout, stderr };
        const end = await this.#runIn(request, launch, spawner, () => shells?.take(launch, variables));
        return { ...end, stdoutBytes: fstatSync(stdout).size, stderrBytes: fstatSync(stderr).size };
      } finally {
        closeSync(stderr);
      }
    } finally {
      closeSync(stdout);
    }
  }

  /** Runs the command in a pre-started shell if there is one that can, otherwise in a process of its own. */
  async #runIn(
    request: CommandRequest,
    launch: SpawnRequest,
    spawner: Spawner,
    takeShell: () => PrestartedShell | undefined,
  ): Promise<ProcessEnd> {
    let shell: PrestartedShell | undefined;
    const { token, timeoutMs, signal } = request;
    const end = await this.#processes.run({ token, timeoutMs, signal }, async () => {
      if (this.#closed) throw new PlatformFault("unavailable", "the command runner is closed");
      shell = takeShell();
      return shell ?? spawner.spawn(launch);
    });
    if (shell === undefined || shell.executed || end.timedOut || end.aborted) return end;
    return this.#runIn(request, launch, spawner, () => undefined);
  }

  async #openLauncher(): Promise<Launcher> {
    const launcher = await openLauncher(this.#log, { env: this.#baseEnv, max: this.#shellsMax });
    this.#shells = launcher.shells;
    return launcher;
  }
}

/** Starts commands. */
interface Launcher {
  readonly spawner: Spawner;
  readonly shells?: PrestartedShells;
}

/** Loaded with the first command, to save memory in installations that run none. */
async function openLauncher(
  log: Log,
  shells: Pick<PrestartedShellsOptions, "env" | "max">,
): Promise<Launcher> {
  if (process.platform !== "linux" || !isMainThread) return { spawner: nodeSpawner };
  try {
    const [{ PosixSpawner }, { loadLibc }] = await Promise.all([
      import("./posix-spawner.ts"),
      import("./libc.ts"),
    ]);
    const libc = await loadLibc();
    const spawner = new PosixSpawner(libc);
    return { spawner, shells: new PrestartedShells({ ...shells, spawner, libc }) };
  } catch (error) {
    log.warn("posix_spawn is not available: Node starts commands, which is slower", { error: String(error) });
    return { spawner: nodeSpawner };
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
