import { performance } from "node:perf_hooks";
import type { CommandOutcome } from "../../commands.ts";
import type { Leftovers } from "./leftovers.ts";
import type { StartedProcess } from "./spawner.ts";
import type { Watchdog } from "./watchdog.ts";

/** Milliseconds between SIGTERM and SIGKILL. */
export const END_GRACE_MS = 500;
/** Maximum delay of a timer; about 24 days. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export type ProcessEnd = Pick<CommandOutcome, "exitCode" | "signal" | "timedOut" | "aborted" | "durationMs">;

export interface ProcessLimits {
  /** Identifies the step in the environment of its processes. */
  readonly token: string;
  /** 0 means no limit. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/** Enforces time limits and ends each program with its process group and leftovers. */
export class Processes {
  readonly #leftovers: Leftovers;
  readonly #watchdog: Watchdog | undefined;
  readonly #groups = new Set<number>();
  #over = false;

  /** `watchdog` knows each group while it runs. */
  constructor(leftovers: Leftovers, watchdog?: Watchdog) {
    this.#leftovers = leftovers;
    this.#watchdog = watchdog;
  }

  /** Runs the program that `start` starts until it ends, or ends it. Rejects if `start` rejects. */
  async run(limits: ProcessLimits, start: () => Promise<StartedProcess>): Promise<ProcessEnd> {
    const began = performance.now();
    if (limits.signal?.aborted === true) {
      return { exitCode: null, signal: null, timedOut: false, aborted: true, durationMs: 0 };
    }
    // Before the start: without it, the process would outlive a server that is killed at this moment.
    this.#leftovers.hold(limits.token);
    let started: StartedProcess;
    try {
      started = await start();
    } catch (error) {
      await this.#leftovers.release(limits.token, false);
      throw error;
    }
    return this.#watch(started, limits, began);
  }

  /** Ends every process at once, including those that are starting. */
  async endAll(): Promise<void> {
    this.#over = true;
    for (const group of this.#groups) killGroup(group, "SIGKILL");
    await this.#leftovers.endAll();
  }

  async #watch({ pid, exited }: StartedProcess, limits: ProcessLimits, began: number): Promise<ProcessEnd> {
    this.#groups.add(pid);
    const note = this.#watchdog?.noteGroup(pid) ?? -1;
    let timedOut = false;
    let aborted = false;
    let grace: NodeJS.Timeout | undefined;
    const end = (): void => {
      if (grace !== undefined) return;
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
    const limit = Math.min(limits.timeoutMs, MAX_TIMER_MS);
    const timer = limit > 0 ? setTimeout(onTimeout, limit) : undefined;
    if (limits.signal?.aborted === true) onAbort();
    else limits.signal?.addEventListener("abort", onAbort, { once: true });
    if (this.#over) killGroup(pid, "SIGKILL");
    try {
      const exit = await exited;
      return { ...exit, timedOut, aborted, durationMs: performance.now() - began };
    } finally {
      clearTimeout(timer);
      clearTimeout(grace);
      limits.signal?.removeEventListener("abort", onAbort);
      killGroup(pid, "SIGKILL");
      this.#groups.delete(pid);
      this.#watchdog?.strike(note);
      await this.#leftovers.release(limits.token, timedOut || aborted);
    }
  }
}

function killGroup(leader: number, signal: "SIGTERM" | "SIGKILL"): void {
  try {
    process.kill(-leader, signal);
  } catch {
    // The group is empty.
  }
}
