import type { Resources } from "../lib/platform/resources.ts";
import { STEP_REQUESTED } from "../lib/workflows/steps/messages.ts";

/** A semaphore of the steps that are executed concurrently, first come, first served. */
export interface StepLimiter {
  readonly isFull: boolean;
  /** Resolves when there may be room, or on `wake`. */
  untilRoom(): Promise<void>;
  wake(): void;
  /** Acquires a place if there is room, and returns whether it did. */
  tryEnter(): boolean;
  /** Waits for a place; false if the signal aborts first. */
  acquire(signal: AbortSignal): Promise<boolean>;
  release(): void;
}

export function stepLimiter(max: number): StepLimiter {
  let acquired = 0;
  const waiting = new Set<() => void>();
  let change = Promise.withResolvers<void>();
  const wake = (): void => {
    change.resolve();
    change = Promise.withResolvers<void>();
  };
  const tryEnter = (): boolean => {
    if (acquired >= max) return false;
    acquired += 1;
    return true;
  };
  return {
    get isFull() {
      return acquired >= max || waiting.size > 0;
    },
    untilRoom: () => change.promise,
    wake,
    tryEnter,
    acquire: async (signal) => {
      while (!signal.aborted && !tryEnter()) {
        const { promise, resolve } = Promise.withResolvers<void>();
        const retry = (): void => resolve();
        waiting.add(retry);
        signal.addEventListener("abort", retry, { once: true });
        await promise;
        signal.removeEventListener("abort", retry);
        waiting.delete(retry);
      }
      return !signal.aborted;
    },
    release: () => {
      acquired -= 1;
      const [next] = waiting;
      next?.();
      wake();
    },
  };
}

/** The option of the pollers for a limit of steps. */
export function limitSteps(template: { readonly resources: Resources }, max: number | undefined) {
  if (max === undefined) return {};
  return { steps: { gate: stepLimiter(max), queues: stepQueues(template.resources) } };
}

/** Queues whose messages request the execution of steps. */
function stepQueues({ rules }: Pick<Resources, "rules">): ReadonlySet<string> {
  const asks = rules.filter(({ pattern }) => JSON.stringify(pattern).includes(`"${STEP_REQUESTED}"`));
  return new Set(asks.flatMap(({ queues }) => queues));
}
