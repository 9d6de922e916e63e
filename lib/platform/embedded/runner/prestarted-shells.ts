import { closeSync, openSync, writeSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import type { Libc } from "./libc.ts";
import { openMemoryFile } from "./memory-file.ts";
import {
  ENV_MAX_BYTES,
  PrestartedShell,
  SCRIPT_MAX_BYTES,
  type ShellCommand,
  type ShellStart,
  startProgram,
} from "./prestarted-shell.ts";
import { BASE_ENV_NAMES, TOKEN_VARIABLE } from "./protocol.ts";
import type { Spawner, SpawnRequest } from "./spawner.ts";

/** Without a command for this many milliseconds, all shells are started; before, one after each command. */
const FILL_AFTER_MS = 50;
/** No shell waits longer than about twice this time, because the oldest is used first. */
const EMPTY_AFTER_MS = 30_000;
/** Number of shells, one after another, that may end before they have a command; then no more are started. */
const LOST_MAX = 3;
const BASH = /(?:^|\/)bash$/;
/** The names of a step's variables, which bash does not use. Others may take effect when it starts. */
const STEP_VARIABLE = /^(?:W\d+|WEFT_[A-Z_]+)$/;
/** Exit code of the test. */
const TESTED = 97;
const TEST_LOOKS = 100;
const TEST_LOOK_MS = 5;
/** Time until the program of a shell is surely loaded, milliseconds. */
const FIND_AFTER_MS = 1;

export interface PrestartedShellsOptions {
  readonly spawner: Spawner;
  readonly libc: Pick<Libc, "socketPair">;
  /** The environment of every command, besides its own variables. */
  readonly env: Readonly<Record<string, string>>;
  /** Maximum number of shells that wait. */
  readonly max: number;
  /** Time without a command after which no shells are kept, milliseconds; default 30 s. */
  readonly emptyAfterMs?: number;
}

/**
 * Shells that are started before their command arrives, and only while no command runs: their start is the largest part
 * of the duration of a short command, and under load it would only compete with other commands. The first shell tests
 * whether the system permits it. If it does not, no further ones are started.
 */
export class PrestartedShells {
  readonly #options: PrestartedShellsOptions;
  readonly #waiting: PrestartedShell[] = [];
  #state: "untested" | "usable" | "unusable";
  #program: string | undefined;
  #opened: { readonly nothing: number; readonly startFile: number } | undefined;
  #starting: Promise<void> | undefined;
  #isIdle = false;
  #lost = 0;
  #soon: NodeJS.Immediate | undefined;
  #later: NodeJS.Timeout | undefined;

  constructor(options: PrestartedShellsOptions) {
    this.#options = options;
    const known: readonly string[] = BASE_ENV_NAMES;
    const isUsual = Object.keys(options.env).every((name) => known.includes(name));
    this.#state = isUsual && options.max > 0 ? "untested" : "unusable";
  }

  /**
   * A shell that runs the command of the request; `variables` are the command's own. Undefined if it is not a script for
   * a shell, or if no shell waits.
   */
  take(request: SpawnRequest, variables: Readonly<Record<string, string>>): PrestartedShell | undefined {
    const command = toShellCommand(request, variables);
    if (command === undefined) return undefined;
    this.#program ??= request.program;
    if (request.program !== this.#program || this.#state !== "usable") return undefined;
    for (let shell = this.#waiting[0]; shell?.find() === true; shell = this.#waiting[0]) {
      this.#waiting.shift();
      if (shell.give(command)) {
        this.#lost = 0;
        return shell;
      }
      shell.discard();
    }
    return undefined;
  }

  /** A command has arrived. */
  pause(): void {
    this.#isIdle = false;
    clearImmediate(this.#soon);
    clearTimeout(this.#later);
  }

  /** No command runs any more. */
  resume(): void {
    this.pause();
    if (this.#program === undefined || this.#state === "unusable") return;
    this.#isIdle = true;
    // After the response to the command.
    this.#soon = setImmediate(() => {
      if (this.#lacksShells) void this.#startOne();
    });
    this.#later = setTimeout(() => {
      void this.#fill();
      const { emptyAfterMs = EMPTY_AFTER_MS } = this.#options;
      this.#later = setTimeout(() => this.#empty(), emptyAfterMs).unref();
    }, FILL_AFTER_MS).unref();
  }

  close(): void {
    this.pause();
    this.#state = "unusable";
    this.#empty();
    if (this.#opened === undefined) return;
    closeSync(this.#opened.nothing);
    closeSync(this.#opened.startFile);
    this.#opened = undefined;
  }

  #empty(): void {
    for (const shell of this.#waiting.splice(0)) shell.discard();
  }

  async #fill(): Promise<void> {
    while (this.#isIdle && this.#lacksShells) await this.#startOne();
  }

  get #lacksShells(): boolean {
    return this.#state !== "unusable" && this.#waiting.length < this.#options.max;
  }

  #startOne(): Promise<void> {
    this.#starting ??= this.#start().finally(() => {
      this.#starting = undefined;
    });
    return this.#starting;
  }

  async #start(): Promise<void> {
    try {
      const shell = await PrestartedShell.start(this.#shellStart());
      if (this.#state === "untested") this.#state = (await this.#passes(shell)) ? "usable" : "unusable";
      else this.#keep(shell);
    } catch {
      this.#state = "unusable";
    }
  }

  #keep(shell: PrestartedShell): void {
    // Closed meanwhile.
    if (this.#state === "unusable") shell.discard();
    else this.#waiting.push(shell);
    // So that a command need not do it.
    setTimeout(() => shell.find(), FIND_AFTER_MS).unref();
    const forget = (): void => {
      const at = this.#waiting.indexOf(shell);
      if (at < 0) return;
      this.#waiting.splice(at, 1);
      this.#lost += 1;
      if (this.#lost >= LOST_MAX) this.#state = "unusable";
    };
    shell.exited.then(forget, forget);
  }

  /** Whether a pre-started shell runs the script that it is given, with its variables, on this system. */
  async #passes(shell: PrestartedShell): Promise<boolean> {
    for (let look = 0; look < TEST_LOOKS && !shell.find(); look += 1) await delay(TEST_LOOK_MS);
    // Closed meanwhile.
    const nothing = this.#opened?.nothing ?? -1;
    const script = `[ "$${TOKEN_VARIABLE}" = test ] && exit ${TESTED}`;
    const variables = [`${TOKEN_VARIABLE}=test`];
    const given =
      nothing >= 0 && shell.give({ script, variables, cwd: "/", stdout: nothing, stderr: nothing });
    if (!given) shell.discard();
    const { exitCode } = await shell.exited;
    return this.#opened !== undefined && shell.executed && exitCode === TESTED;
  }

  #shellStart(): ShellStart {
    const { spawner, libc, env } = this.#options;
    this.#opened ??= openFiles(Object.keys(env).length);
    const { nothing, startFile } = this.#opened;
    return {
      spawner,
      socketPair: () => libc.socketPair(),
      program: this.#program ?? "",
      env,
      startFile: `/proc/${process.pid}/fd/${startFile}`,
      nothing,
    };
  }
}

function openFiles(inherited: number): { nothing: number; startFile: number } {
  const startFile = openMemoryFile();
  // `BASH_ENV` is one variable more.
  writeSync(startFile, startProgram(inherited + 1));
  return { nothing: openSync("/dev/null", "w"), startFile };
}

/** Undefined if the request is not a script for a shell, or needs a shell of its own. */
function toShellCommand(
  { program, args, cwd, stdout, stderr }: SpawnRequest,
  variables: Readonly<Record<string, string>>,
): ShellCommand | undefined {
  const [option, script] = args;
  if (!BASH.test(program) || option !== "-c" || script === undefined || args.length > 2) return undefined;
  const { [TOKEN_VARIABLE]: token = "", ...others } = variables;
  const lines = [`${TOKEN_VARIABLE}=${token}`];
  for (const [name, value] of Object.entries(others)) {
    if (!STEP_VARIABLE.test(name)) return undefined;
    lines.push(`${name}=${value}`);
  }
  if ([script, ...lines].some((text) => text.includes("\0"))) return undefined;
  if (Buffer.byteLength(script) > SCRIPT_MAX_BYTES) return undefined;
  if (lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0) > ENV_MAX_BYTES) return undefined;
  return { script, variables: lines, stdout, stderr, cwd };
}
