import type { CommandOutcome, CommandRequest, Commands } from "../../commands.ts";
import { PlatformFault } from "../../faults.ts";
import { ProcessLost, type RunnerLink } from "./link.ts";

/** Processes for one command each, at the same time: some 50 MB each. */
const OWN_MAX = 4;
/** Steps that are remembered for having lost their process. */
const LOST_MAX = 10_000;

type Link = RunnerLink<Omit<CommandRequest, "signal">, CommandOutcome>;

/**
 * Runs commands in one process, their parent. A command may end that, and takes others with it: all of them are
 * rejected as to be tried again, and then each has a process of its own, so that the one which does it again is known,
 * and fails by itself.
 */
export class CommandProcesses implements Commands {
  readonly #open: () => Link;
  readonly #shared: Link;
  readonly #own = new Set<Link>();
  readonly #lost = new Set<string>();
  #closed = false;

  constructor(open: () => Link) {
    this.#open = open;
    this.#shared = open();
  }

  /** Of the shared process; 0 while there is none. */
  get pid(): number {
    return this.#shared.pid;
  }

  async run({ signal, ...request }: CommandRequest): Promise<CommandOutcome> {
    const step = stepOf(request.token);
    if (this.#lost.has(step) && this.#own.size < OWN_MAX && !this.#closed)
      return this.#runAlone(request, signal, step);
    try {
      return await this.#shared.request(request, signal);
    } catch (error) {
      if (error instanceof ProcessLost && !this.#closed) this.#remember(step);
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([this.#shared, ...this.#own].map((link) => link.close()));
  }

  async #runAlone(request: Omit<CommandRequest, "signal">, signal: AbortSignal | undefined, step: string) {
    const link = this.#open();
    this.#own.add(link);
    try {
      return await link.request(request, signal);
    } catch (error) {
      if (!(error instanceof ProcessLost) || this.#closed) throw error;
      throw new PlatformFault("command_ended_its_parent", undefined, { cause: error });
    } finally {
      this.#lost.delete(step);
      await link.close();
      this.#own.delete(link);
    }
  }

  #remember(step: string): void {
    const [oldest] = this.#lost;
    if (this.#lost.size >= LOST_MAX && oldest !== undefined) this.#lost.delete(oldest);
    this.#lost.add(step);
  }
}

/** A token ends with the attempt: the next one of the same step has another. */
function stepOf(token: string): string {
  return token.slice(0, token.lastIndexOf("/"));
}
