import type { CommandOutcome, CommandRequest, Commands } from "../../commands.ts";
import { PlatformFault } from "../../faults.ts";
import { ProcessLostError, type RunnerLink } from "./link.ts";

/** Maximum number of processes that run a single command each; they use some 50 MB each. */
const OWN_MAX = 4;
/** Maximum number of remembered steps whose process died. */
const LOST_MAX = 10_000;

type Link = RunnerLink<Omit<CommandRequest, "signal">, CommandOutcome>;

/**
 * Runs commands as children of one shared process. A command may kill that process and all other commands with it: all
 * of them are rejected as retryable. Their retries run in a process of their own, so that the command that does it
 * again is identified and fails alone.
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

  /** Process id of the shared process; 0 if it is not running. */
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
      if (error instanceof ProcessLostError && !this.#closed) this.#remember(step);
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
      if (!(error instanceof ProcessLostError) || this.#closed) throw error;
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

/** The step of a token: the token ends with the attempt number, which differs for the next attempt. */
function stepOf(token: string): string {
  return token.slice(0, token.lastIndexOf("/"));
}
