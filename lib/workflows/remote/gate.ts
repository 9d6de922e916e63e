import { StepCancelled, StepFailed } from "../engine/step-failure.ts";

/** Lets so many in at a time, in the order in which they came. */
export class Gate {
  readonly #width: number;
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(width: number) {
    this.#width = width;
    this.#free = width;
  }

  /** Whether nobody is in, and nobody waits. */
  get isIdle(): boolean {
    return this.#free === this.#width;
  }

  /** The answer lets the next one in. Rejects with StepFailed when the time is over, StepCancelled when it is given up. */
  async enter(wanted: { readonly signal: AbortSignal; readonly timeoutMs: number }): Promise<() => void> {
    if (this.#free > 0) this.#free -= 1;
    else await this.#turn(wanted);
    let left = false;
    return () => {
      if (left) return;
      left = true;
      const [next] = this.#waiting;
      if (next === undefined) this.#free += 1;
      else next();
    };
  }

  #turn({ signal, timeoutMs }: { readonly signal: AbortSignal; readonly timeoutMs: number }): Promise<void> {
    return new Promise((resolve, reject) => {
      const done = (settle: () => void): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", giveUp);
        this.#waiting.delete(enter);
        settle();
      };
      const enter = (): void => done(resolve);
      const giveUp = (): void => done(() => reject(new StepCancelled()));
      const late = (): void => done(() => reject(new StepFailed("timed out waiting for other remote steps")));
      const timer = setTimeout(late, timeoutMs);
      signal.addEventListener("abort", giveUp, { once: true });
      this.#waiting.add(enter);
      if (signal.aborted) giveUp();
    });
  }
}
