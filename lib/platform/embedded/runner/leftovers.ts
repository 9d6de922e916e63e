import { readFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { setImmediate as nextTurn } from "node:timers/promises";
import { TOKEN_VARIABLE } from "./protocol.ts";
import type { Watchdog } from "./watchdog.ts";

/**
 * Milliseconds between a step's normal end and the scan for its leftovers; one scan serves all steps that ended
 * meanwhile.
 */
export const SWEEP_DELAY_MS = 2_000;
/** Maximum number of scans: a process that forks while it is being killed is found by the next scan. */
const MAX_PASSES = 5;
/** Number of environments that are read in a turn of the event loop. */
const READ_PER_TURN = 100;
const NEEDLE = `${TOKEN_VARIABLE}=`;

interface Holder {
  active: number;
  urgent: boolean;
  /** Its slot in the watchdog's list. */
  readonly note: number;
}

/**
 * Ends processes that left their step's process group (`setsid`), found by the step's token in their environment. Does
 * nothing on systems without /proc.
 */
export class Leftovers {
  readonly #holders = new Map<string, Holder>();
  readonly #ended: { token: string; note: number }[] = [];
  readonly #report: (count: number) => void;
  readonly #watchdog: Watchdog | undefined;
  #timer: NodeJS.Timeout | undefined;
  #endsAll = false;
  #scan: Promise<void> = Promise.resolve();
  #next: { readonly tokens: Set<string>; readonly done: Promise<void> } | undefined;

  /**
   * `report` receives the number of processes that a scan ended, if it is not 0. `watchdog` keeps each token for as
   * long as a process may carry it.
   */
  constructor(report: (count: number) => void, watchdog?: Watchdog) {
    this.#report = report;
    this.#watchdog = watchdog;
  }

  /** A command of this step starts: its processes are not leftovers until the step's last command has ended. */
  hold(token: string): void {
    const holder = this.#holders.get(token);
    if (holder !== undefined) {
      holder.active += 1;
      return;
    }
    const note = this.#watchdog?.noteToken(token) ?? -1;
    this.#holders.set(token, { active: 1, urgent: false, note });
  }

  /** A command of this step ended. If `urgent`, the promise resolves when its leftovers are gone. */
  async release(token: string, urgent: boolean): Promise<void> {
    const holder = this.#holders.get(token);
    if (holder === undefined) return;
    holder.active -= 1;
    holder.urgent ||= urgent;
    if (holder.active > 0) return;
    this.#holders.delete(token);
    if (holder.urgent) {
      await this.end(new Set([token]));
      this.#watchdog?.strike(holder.note);
      return;
    }
    this.#ended.push({ token, note: holder.note });
    this.#timer ??= setTimeout(() => void this.#sweepEnded(), SWEEP_DELAY_MS).unref();
  }

  /** Ends the leftovers of all running and recently ended steps. */
  async endAll(): Promise<void> {
    clearTimeout(this.#timer);
    this.#endsAll = true;
    await this.end(new Set([...this.#holders.keys(), ...this.#ended.map(({ token }) => token)]));
  }

  /** Kills every process that carries one of the tokens; tokens added during a scan are handled by the next scan. */
  async end(tokens: ReadonlySet<string>): Promise<void> {
    if (process.platform !== "linux" || tokens.size === 0) return;
    this.#next ??= this.#scanAfterThis();
    for (const token of tokens) this.#next.tokens.add(token);
    await this.#next.done;
  }

  #scanAfterThis() {
    const tokens = new Set<string>();
    const done = this.#scan.then(() => {
      this.#next = undefined;
      return this.#endNow(tokens);
    });
    this.#scan = done.catch(() => undefined);
    return { tokens, done };
  }

  async #endNow(tokens: ReadonlySet<string>): Promise<void> {
    const killed = new Set<number>();
    for (let pass = 0; pass < MAX_PASSES; pass += 1) {
      const found = await carriersOf(tokens);
      // A command of the same step may have started meanwhile.
      const left = found.filter(({ token }) => this.#endsAll || !this.#holders.has(token));
      for (const { pid } of left) if (kill(pid)) killed.add(pid);
      if (left.length === 0) break;
    }
    if (killed.size > 0) this.#report(killed.size);
  }

  async #sweepEnded(): Promise<void> {
    this.#timer = undefined;
    const ended = this.#ended.splice(0);
    await this.end(new Set(ended.map(({ token }) => token).filter((token) => !this.#holders.has(token))));
    for (const { note } of ended) this.#watchdog?.strike(note);
  }
}

async function carriersOf(tokens: ReadonlySet<string>): Promise<{ pid: number; token: string }[]> {
  const found: { pid: number; token: string }[] = [];
  let read = 0;
  for (const entry of await readdir("/proc").catch(() => [])) {
    const pid = Number(entry);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    read += 1;
    if (read % READ_PER_TURN === 0) await nextTurn();
    const token = tokenOf(pid);
    if (token !== undefined && tokens.has(token)) found.push({ pid, token });
  }
  return found;
}

/**
 * The token in a process's environment, if it can be read: not if the process is another user's or has ended. Read as
 * text and in the event loop: it comes from memory, and an asynchronous read would allocate 64 KB and use a thread four
 * times, for each process of the machine.
 */
function tokenOf(pid: number): string | undefined {
  try {
    return tokenIn(readFileSync(`/proc/${pid}/environ`, "utf8"));
  } catch {
    return undefined;
  }
}

const tokenIn = (environment: string): string | undefined =>
  environment
    .split("\0")
    .find((variable) => variable.startsWith(NEEDLE))
    ?.slice(NEEDLE.length);

function kill(pid: number): boolean {
  try {
    process.kill(pid, "SIGKILL");
    return true;
  } catch {
    return false;
  }
}
