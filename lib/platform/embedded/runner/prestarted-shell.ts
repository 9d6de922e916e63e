import { closeSync, constants, openSync, readSync, writeSync } from "node:fs";
import { type ProcessRegions, readRegions } from "./process-regions.ts";
import { TOKEN_VARIABLE } from "./protocol.ts";
import type { ProcessExit, Spawner, StartedProcess } from "./spawner.ts";

/** Largest script of a pre-started shell, bytes. */
export const SCRIPT_MAX_BYTES = 8 * 1024;
/** Largest environment that a pre-started shell is given, bytes. */
export const ENV_MAX_BYTES = 8 * 1024;
/** Reserves the memory of the script. It would run, and fail, if bash did not read its script after it was replaced. */
const NO_SCRIPT = "exit 98".padEnd(SCRIPT_MAX_BYTES);
/** Reserves the memory of the environment. */
const NO_TOKEN = `${TOKEN_VARIABLE}=`.padEnd(ENV_MAX_BYTES, "-");
const TOKEN_START = `${TOKEN_VARIABLE}=`.length;
/** So many bytes of each are looked for in the memory before it is changed. */
const LOOKED_FOR_BYTES = 32;

/**
 * What bash reads at its start, as the file that `BASH_ENV` names. It waits until it is given a command, or ends with
 * the process that started it. The script is already in place then: what is left to do is what differs between two
 * commands of the same server. It uses only builtins, and leaves the shell in the state in which it found it.
 * `inherited`: the number of variables that the shell was started with, besides those that it is given.
 */
export function startProgram(inherited: number): string {
  return `
weft_start() {
  local count folder out err script variables
  read -r -u 3 count folder out err || exit
  {
    mapfile -t -d '' -s 2 -n 1 script </proc/self/cmdline &&
    mapfile -t -d '' -s ${inherited} -n "$count" variables </proc/self/environ &&
    unset BASH_ENV && export "\${variables[@]}" &&
    cd -P -- "/proc/$PPID/fd/$folder" && unset OLDPWD && export OLDPWD &&
    exec >"/proc/$PPID/fd/$out" 2>"/proc/$PPID/fd/$err"
  } || { echo >&3; exit; }
  exec 3>&-
  BASH_EXECUTION_STRING=$script SECONDS=0
  unset -f weft_start
}
weft_start "$_"
`;
}

export interface ShellStart {
  readonly spawner: Spawner;
  /** Creates two connected sockets. */
  socketPair(): readonly [number, number];
  readonly program: string;
  readonly env: Readonly<Record<string, string>>;
  /** The path of a file with `startProgram`. */
  readonly startFile: string;
  /** File descriptor of `/dev/null`, open for writing. */
  readonly nothing: number;
}

/** The command of a pre-started shell. */
export interface ShellCommand {
  readonly script: string;
  /** `NAME=value`, the token first. Bash gives these names no meaning. */
  readonly variables: readonly string[];
  /** File descriptors of the files that receive the output. */
  readonly stdout: number;
  readonly stderr: number;
  readonly cwd: string;
}

/**
 * A bash that has started, and waits for one command. Its script and its variables are written where the kernel and bash
 * find those of a new program: in the memory of its arguments and of its initial environment. So the script is what
 * `-c` received, and `/proc` shows the environment, from which leftover processes are found.
 */
export class PrestartedShell implements StartedProcess {
  readonly pid: number;
  readonly exited: Promise<ProcessExit>;
  readonly #argsLength: number;
  readonly #envLength: number;
  readonly #channel: number;
  /** Open files besides the channel. */
  readonly #files: number[] = [];
  #found: { readonly memory: number; readonly regions: ProcessRegions } | undefined;
  #outcome: "waits" | "given" | "executed" | "refused" = "waits";

  private constructor(process: StartedProcess, channel: number, argsLength: number, envLength: number) {
    this.pid = process.pid;
    this.#channel = channel;
    this.#argsLength = argsLength;
    this.#envLength = envLength;
    this.exited = process.exited.finally(() => this.#close());
    // A shell that waits has nobody who handles this.
    this.exited.catch(() => {});
  }

  /** Rejects as `Spawner.spawn` does. */
  static async start(given: ShellStart): Promise<PrestartedShell> {
    const { spawner, program, nothing } = given;
    const args = ["-c", NO_SCRIPT];
    const env = { ...given.env, BASH_ENV: given.startFile, [TOKEN_VARIABLE]: NO_TOKEN.slice(TOKEN_START) };
    const [ours, theirs] = given.socketPair();
    try {
      const request = { program, args, cwd: "/", env, stdout: nothing, stderr: nothing, channel: theirs };
      const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
      const process = await spawner.spawn(request);
      return new PrestartedShell(process, ours, lengthOf([program, ...args]), lengthOf(variables));
    } catch (error) {
      closeSync(ours);
      throw error;
    } finally {
      closeSync(theirs);
    }
  }

  /** False if it waited for a command, and got none that it executed. */
  get executed(): boolean {
    return this.#outcome === "executed";
  }

  /**
   * Finds the memory of the shell. Returns false if it cannot be found yet, or if the system does not permit it. Also
   * called by `give`.
   */
  find(): boolean {
    if (this.#found !== undefined) return true;
    if (this.#outcome !== "waits") return false;
    try {
      const regions = readRegions(this.pid);
      // Until the program is loaded, these are the regions of this process, whose memory the child then still has.
      if (regions.args.length !== this.#argsLength || regions.env.length !== this.#envLength) return false;
      const memory = openSync(`/proc/${this.pid}/mem`, "r+");
      this.#files.push(memory);
      if (!holds(memory, scriptStart(regions), NO_SCRIPT)) return false;
      if (!holds(memory, tokenStart(regions), NO_TOKEN)) return false;
      this.#found = { memory, regions };
      return true;
    } catch {
      return false;
    }
  }

  /** Gives the shell its command. Returns false if it did not get it; then it is to be killed. */
  give({ script, variables, stdout, stderr, cwd }: ShellCommand): boolean {
    if (!this.find() || this.#found === undefined) return false;
    const { memory, regions } = this.#found;
    try {
      const folder = openSync(cwd, constants.O_RDONLY | constants.O_DIRECTORY);
      this.#files.push(folder);
      replace(memory, scriptStart(regions), SCRIPT_MAX_BYTES, script);
      replace(memory, tokenStart(regions), ENV_MAX_BYTES, `${variables.join("\0")}\0`);
      writeSync(this.#channel, `${variables.length} ${folder} ${stdout} ${stderr}\n`);
      this.#outcome = "given";
      return true;
    } catch {
      return false;
    }
  }

  /** Ends a shell that has no command. */
  discard(): void {
    if (this.#outcome !== "waits") return;
    this.#outcome = "refused";
    try {
      process.kill(this.pid, "SIGKILL");
    } catch {
      // It has ended.
    }
  }

  #close(): void {
    if (this.#outcome === "given") this.#outcome = this.#closedByShell() ? "executed" : "refused";
    else this.#outcome = "refused";
    for (const file of [this.#channel, ...this.#files]) closeSync(file);
  }

  /**
   * The shell closes its end before it runs the command. If it cannot prepare the command, it writes to it; if it ended
   * before it read the command, reading fails.
   */
  #closedByShell(): boolean {
    try {
      return readSync(this.#channel, Buffer.alloc(1)) === 0;
    } catch {
      return false;
    }
  }
}

function lengthOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text) + 1, 0);
}

/** The script is the last argument. */
function scriptStart({ args }: ProcessRegions): number {
  return args.start + args.length - SCRIPT_MAX_BYTES - 1;
}

/** The token is the last variable. */
function tokenStart({ env }: ProcessRegions): number {
  return env.start + env.length - ENV_MAX_BYTES - 1;
}

function holds(memory: number, start: number, text: string): boolean {
  const found = Buffer.alloc(LOOKED_FOR_BYTES);
  readSync(memory, found, 0, found.length, start);
  return text.startsWith(found.toString("latin1"));
}

/** Writes the text, and NUL up to the end. */
function replace(memory: number, start: number, length: number, text: string): void {
  const bytes = Buffer.alloc(length);
  bytes.write(text);
  if (writeSync(memory, bytes, 0, length, start) !== length) throw new Error("the memory cannot be written");
}
