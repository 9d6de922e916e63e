import { syncBuiltinESMExports } from "node:module";
import timersPromises from "node:timers/promises";

/** Something that happens at a time, and the order in which things of the same time were scheduled. */
interface Scheduled {
  readonly at: number;
  readonly order: number;
  readonly work: () => void;
  cancelled: boolean;
}

/** What `setTimeout` and `setInterval` return, as far as the code of Weft uses it. */
interface VirtualTimer {
  ref(): VirtualTimer;
  unref(): VirtualTimer;
  hasRef(): boolean;
  refresh(): VirtualTimer;
  [Symbol.toPrimitive](): number;
  [Symbol.dispose](): void;
}

const immediate = globalThis.setImmediate;

/**
 * A clock that jumps from one scheduled moment to the next. What runs between two moments takes no time, so results do
 * not depend on the machine. Replaces the timers of the process while it is installed.
 */
export class VirtualTime {
  #now = 0;
  #order = 0;
  readonly #heap: Scheduled[] = [];
  readonly #timers = new Map<unknown, Scheduled>();

  /** Milliseconds since the start. */
  get now(): number {
    return this.#now;
  }

  /** Does something after a number of milliseconds. */
  after(milliseconds: number, work: () => void): Scheduled {
    this.#order += 1;
    const at = this.#now + Math.max(0, milliseconds);
    const scheduled: Scheduled = { at, order: this.#order, work, cancelled: false };
    push(this.#heap, scheduled);
    return scheduled;
  }

  sleep(milliseconds: number): Promise<void> {
    return new Promise((resolve) => this.after(milliseconds, resolve));
  }

  /** Lets everything happen until a time. */
  async runUntil(until: number): Promise<void> {
    await settle();
    for (let next = this.#heap[0]; next !== undefined && next.at <= until; next = this.#heap[0]) {
      pop(this.#heap);
      if (next.cancelled) continue;
      this.#now = next.at;
      next.work();
      await settle();
    }
    this.#now = until;
  }

  /** Resolves to the result of work that waits for virtual time. */
  async runWhile<Result>(work: Promise<Result>): Promise<Result> {
    let isDone = false;
    const done = work.finally(() => {
      isDone = true;
    });
    done.catch(() => undefined);
    await settle();
    while (!isDone) {
      const next = pop(this.#heap);
      if (next === undefined) await settle();
      else if (!next.cancelled) {
        this.#now = next.at;
        next.work();
        await settle();
      }
    }
    return done;
  }

  /** Replaces the timers of the process; the returned function restores them. */
  install(): () => void {
    const { setTimeout, clearTimeout, setInterval, clearInterval } = globalThis;
    const { timeout } = AbortSignal;
    const sleepBefore = timersPromises.setTimeout;
    const performanceNow = performance.now;
    const start = (milliseconds: number, repeats: boolean, work: () => void): VirtualTimer => {
      const timer = virtualTimer(() => clear(timer));
      const arm = (): void => {
        const scheduled = this.after(milliseconds, () => {
          if (repeats) arm();
          else this.#timers.delete(timer);
          work();
        });
        this.#timers.set(timer, scheduled);
      };
      arm();
      return timer;
    };
    const clear = (timer: unknown): void => {
      const scheduled = this.#timers.get(timer);
      if (scheduled !== undefined) scheduled.cancelled = true;
      this.#timers.delete(timer);
    };
    const replacements = {
      setTimeout: (work: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) =>
        start(ms, false, () => work(...args)),
      setInterval: (work: (...args: unknown[]) => void, ms = 1, ...args: unknown[]) =>
        start(Math.max(1, ms), true, () => work(...args)),
      clearTimeout: clear,
      clearInterval: clear,
    };
    Object.assign(globalThis, replacements);
    AbortSignal.timeout = (milliseconds) => {
      const controller = new AbortController();
      this.after(milliseconds, () => controller.abort(new DOMException("timed out", "TimeoutError")));
      return controller.signal;
    };
    performance.now = () => this.#now;
    timersPromises.setTimeout = (async (milliseconds = 0, value?: unknown) => {
      await this.sleep(milliseconds);
      return value;
    }) as typeof sleepBefore;
    syncBuiltinESMExports();
    return () => {
      Object.assign(globalThis, { setTimeout, clearTimeout, setInterval, clearInterval });
      AbortSignal.timeout = timeout;
      performance.now = performanceNow;
      timersPromises.setTimeout = sleepBefore;
      syncBuiltinESMExports();
    };
  }
}

function virtualTimer(dispose: () => void): VirtualTimer {
  const timer: VirtualTimer = {
    ref: () => timer,
    unref: () => timer,
    hasRef: () => false,
    refresh: () => timer,
    [Symbol.toPrimitive]: () => 0,
    [Symbol.dispose]: dispose,
  };
  return timer;
}

/** Waits until everything that can go on without a timer has: promises, and requests to the file system. */
async function settle(): Promise<void> {
  do {
    await new Promise((resolve) => immediate(resolve));
  } while (process.getActiveResourcesInfo().some((name) => name.startsWith("FSReq")));
}

const isBefore = (one: Scheduled, other: Scheduled): boolean =>
  one.at < other.at || (one.at === other.at && one.order < other.order);

function push(heap: Scheduled[], added: Scheduled): void {
  let at = heap.length;
  heap.push(added);
  while (at > 0) {
    const parent = (at - 1) >> 1;
    const above = heap[parent];
    if (above === undefined || !isBefore(added, above)) break;
    heap[at] = above;
    at = parent;
  }
  heap[at] = added;
}

function pop(heap: Scheduled[]): Scheduled | undefined {
  const first = heap[0];
  const last = heap.pop();
  if (first === undefined || last === undefined || heap.length === 0) return first;
  let at = 0;
  for (;;) {
    let child = at * 2 + 1;
    const [left, right] = [heap[child], heap[child + 1]];
    if (left === undefined) break;
    if (right !== undefined && isBefore(right, left)) child += 1;
    const least = heap[child];
    if (least === undefined || !isBefore(least, last)) break;
    heap[at] = least;
    at = child;
  }
  heap[at] = last;
  return first;
}
