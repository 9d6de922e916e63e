import { closeSync, openSync, statSync } from "node:fs";
import { constants } from "node:os";
import { resolve } from "node:path";
import { getSystemErrorName } from "node:util";
import { PlatformFault } from "../../faults.ts";
import type { Libc, SpawnCall } from "./libc.ts";
import {
  checkFolder,
  type ProcessExit,
  type Spawner,
  type SpawnRequest,
  type StartedProcess,
  startFailure,
} from "./spawner.ts";

/** Search path of programs without `PATH`, as the system uses it. */
const DEFAULT_PATH = "/bin:/usr/bin";
/** Milliseconds between checks of the children, in case a SIGCHLD is lost. */
const LOOK_MS = 1_000;
/** The thread pool has four threads, which also read files. */
const STARTS_AT_ONCE = 3;
const { ENOENT, ENOEXEC, EACCES, ENOTDIR } = constants.errno;
const SIGNAL_NAMES = new Map(
  Object.entries(constants.signals)
    .reverse()
    .map(([name, number]) => [number, name]),
);

interface Child {
  /** It waits for a command, and does not run yet. */
  readonly waits: boolean;
  resolve(exit: ProcessExit): void;
  reject(error: PlatformFault): void;
}

/**
 * Uses `posix_spawn` of the C library: it does not copy this process's page tables, so that the time of a start does
 * not depend on this process's size. While other starts are under way, a thread of the pool waits until the program is
 * loaded.
 */
export class PosixSpawner implements Spawner {
  readonly #libc: Libc;
  readonly #children = new Map<number, Child>();
  readonly #nothing = openSync("/dev/null", "r");
  readonly #look = (): void => this.#reapAll();
  readonly #turns: (() => void)[] = [];
  #starting = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(libc: Libc) {
    this.#libc = libc;
    process.on("SIGCHLD", this.#look);
  }

  async spawn(request: SpawnRequest): Promise<StartedProcess> {
    checkFolder(request.cwd);
    await this.#turn();
    let pid: number;
    try {
      pid = await this.#start(request);
    } finally {
      const next = this.#turns.shift();
      if (next === undefined) this.#starting -= 1;
      else next();
    }
    // The timer also keeps this process alive until its children have ended.
    this.#timer ??= setInterval(this.#look, LOOK_MS);
    const exited = new Promise<ProcessExit>((resolve, reject) =>
      this.#children.set(pid, { resolve, reject, waits: request.channel !== undefined }),
    );
    // It may have ended before its id was registered.
    this.#reap(pid);
    return { pid, exited };
  }

  close(): void {
    process.off("SIGCHLD", this.#look);
    clearInterval(this.#timer);
    closeSync(this.#nothing);
  }

  async #turn(): Promise<void> {
    if (this.#starting >= STARTS_AT_ONCE) await new Promise<void>((resolve) => this.#turns.push(resolve));
    else this.#starting += 1;
  }

  async #start({ program, args, cwd, env, stdout, stderr, channel }: SpawnRequest): Promise<number> {
    const call = {
      argv: [program, ...args].map((text) => checked(text, "an argument")),
      env: Object.entries(env).map(([name, value]) => checked(`${name}=${value}`, "a variable")),
      cwd: checked(cwd, "the folder"),
      stdin: this.#nothing,
      stdout,
      stderr,
      channel,
      atOnce: this.#starting === 1 && [...this.#children.values()].every(({ waits }) => waits),
    };
    let error: number = ENOENT;
    for (const path of candidates(program, cwd, env.PATH)) {
      const found = await this.#execute({ ...call, path });
      if (found > 0) return found;
      error = -found;
      if (error !== EACCES && error !== ENOENT && error !== ENOTDIR) break;
    }
    throw startFailure(`spawn ${program} ${getSystemErrorName(-error)}`);
  }

  /** As `execvp` does, runs a file without a shebang line with `sh`. */
  async #execute(call: SpawnCall): Promise<number> {
    const found = await this.#libc.spawn(call);
    if (found !== -ENOEXEC) return found;
    return this.#libc.spawn({ ...call, path: "/bin/sh", argv: ["sh", call.path, ...call.argv.slice(1)] });
  }

  /**
   * Checks each child separately: one signal may stand for several children, and Node's own children must not be
   * reaped.
   */
  #reapAll(): void {
    for (const pid of this.#children.keys()) this.#reap(pid);
  }

  #reap(pid: number): void {
    const child = this.#children.get(pid);
    if (child === undefined) return;
    const status = this.#libc.reap(pid);
    if (status === "running") return;
    this.#children.delete(pid);
    if (status === "unknown")
      child.reject(new PlatformFault("unavailable", "waiting for the exit of a command failed"));
    else child.resolve(exitOf(status));
    if (this.#children.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

/** Decodes a wait status: the low seven bits contain the signal, the next eight the exit code. */
function exitOf(status: number): ProcessExit {
  const signal = status & 0x7f;
  if (signal === 0) return { exitCode: (status >> 8) & 0xff, signal: null };
  return { exitCode: null, signal: SIGNAL_NAMES.get(signal) ?? `signal ${signal}` };
}

function* candidates(program: string, cwd: string, path = DEFAULT_PATH): Generator<string> {
  if (program.includes("/")) {
    yield program;
    return;
  }
  if (program === "") return;
  for (const folder of path.split(":")) {
    const file = folder.startsWith("/") ? `${folder}/${program}` : resolve(cwd, folder, program);
    // A failed start costs a hundred times as much as this check.
    if (mayExist(file)) yield file;
  }
}

function mayExist(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false })?.isFile() === true;
  } catch {
    return true;
  }
}

/** Rejects NUL, and replaces unpaired surrogates as Node does. */
function checked(text: string, what: string): string {
  if (text.includes("\0")) throw startFailure(`${what} contains a NUL`);
  return text.toWellFormed();
}
