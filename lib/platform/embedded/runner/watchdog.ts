import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, writeSync } from "node:fs";
import type { Log } from "../../log.ts";
import { openMemoryFile } from "./memory-file.ts";
import { TOKEN_VARIABLE } from "./protocol.ts";

/** Size of a slot in the list: one line, padded with line breaks. */
const SLOT_BYTES = 256;
/** A watchdog that ended sooner than this many milliseconds is not restarted at once. */
const HEALTHY_AFTER_MS = 1_000;
const LONGEST_BACKOFF_MS = 10 * 60_000;

/**
 * Waits until the server is gone, which closes its standard input. Then kills the process groups (`g`) in the list at
 * file descriptor 3 and the processes with one of the tokens (`t`), several times because processes may fork meanwhile.
 */
const PROGRAM = `
trap '' HUP INT QUIT TERM
while read -r line; do :; done
set --
while IFS= read -r line; do
  case $line in
    g*) kill -KILL "-\${line#g}" ;;
    t*) set -- "$@" -e "${TOKEN_VARIABLE}=\${line#t}" ;;
  esac
done <&3
[ "$#" -gt 0 ] && [ -r /proc/self/environ ] || exit 0
for pass in 1 2 3 4 5; do
  found=$(grep -lzxF "$@" /proc/[0-9]*/environ)
  [ -n "$found" ] || exit 0
  for path in $found; do
    pid=\${path#/proc/}
    kill -KILL "\${pid%/environ}"
  done
done
`;

/**
 * A shell that briefly outlives the server: if the server is killed, the shell ends the running commands. They are
 * listed in an unlinked file, which takes one write per change and which the shell reads only then, so that it costs
 * nothing while the server lives.
 */
export class Watchdog {
  readonly #log: Log;
  readonly #env: Readonly<Record<string, string>>;
  readonly #list: number;
  readonly #free: number[] = [];
  #slots = 0;
  #child: ChildProcess | undefined;
  #restart: NodeJS.Timeout | undefined;
  #backoffMs = 0;
  #closed = false;
  #failed = false;

  /** Starts the shell; `env` is its whole environment. Throws if there is no folder for temporary files. */
  constructor(env: Readonly<Record<string, string>>, log: Log) {
    this.#env = env;
    this.#log = log;
    this.#list = openMemoryFile();
    this.#start();
  }

  /** Process id of the shell; 0 if it is not running. */
  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** Adds a step's token: no process with it may outlive the server. Returns the slot for `strike`. */
  noteToken(token: string): number {
    return this.#note(`t${token}`);
  }

  /** Adds a process group, by its leader's id. */
  noteGroup(pid: number): number {
    return this.#note(`g${pid}`);
  }

  /** Clears a slot. */
  strike(slot: number): void {
    if (slot < 0) return;
    this.#write(slot, "");
    this.#free.push(slot);
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#restart);
    this.#child?.kill("SIGKILL");
    closeSync(this.#list);
  }

  #note(line: string): number {
    // Such a token cannot be searched for; its process group still can.
    if (line.includes("\n") || Buffer.byteLength(line) >= SLOT_BYTES) return -1;
    let slot = this.#free.pop();
    if (slot === undefined) {
      slot = this.#slots;
      this.#slots += 1;
    }
    this.#write(slot, line);
    return slot;
  }

  #write(slot: number, line: string): void {
    if (this.#closed) return;
    const bytes = Buffer.alloc(SLOT_BYTES, "\n");
    bytes.write(line);
    try {
      writeSync(this.#list, bytes, 0, SLOT_BYTES, slot * SLOT_BYTES);
    } catch (error) {
      if (!this.#failed)
        this.#log.warn("the watchdog did not start: commands may outlive a killed server", {
          error: String(error),
        });
      this.#failed = true;
    }
  }

  #start(): void {
    const started = performance.now();
    const child = spawn("/bin/sh", ["-c", PROGRAM], {
      cwd: "/",
      env: { ...this.#env },
      stdio: ["pipe", "ignore", "ignore", this.#list],
      detached: true,
    });
    this.#child = child;
    child.unref();
    // Never written to: it closes when this process ends.
    child.stdin?.on("error", () => {});
    if (child.stdin !== null && "unref" in child.stdin && typeof child.stdin.unref === "function") {
      child.stdin.unref();
    }
    const again = (): void => {
      if (this.#child !== child) return;
      this.#child = undefined;
      if (this.#closed) return;
      const healthy = performance.now() - started >= HEALTHY_AFTER_MS;
      this.#backoffMs = healthy ? 0 : Math.min(this.#backoffMs * 2 || HEALTHY_AFTER_MS, LONGEST_BACKOFF_MS);
      this.#log.warn("the watchdog of commands ended", { restartInMs: this.#backoffMs });
      this.#restart = setTimeout(() => this.#start(), this.#backoffMs);
      this.#restart.unref();
    };
    child.once("error", again);
    child.once("exit", again);
  }
}
