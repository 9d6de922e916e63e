import type { Resources } from "../lib/platform/resources.ts";
import { STEP_REQUESTED } from "../lib/workflows/steps/messages.ts";

/** Lets so many in at once, the longest waiting first. */
export interface StepLimiter {
  readonly isFull: boolean;
  /** Settles when there may be room, or at `wake`. */
  untilRoom(): Promise<void>;
  wake(): void;
  /** True where there is room, which is then taken. */
  tryEnter(): boolean;
  /** Waits for room; false where the signal is aborted first. */
  acquire(signal: AbortSignal): Promise<boolean>;
  release(): void;
}

export function stepLimiter(max: number): StepLimiter {
  let inside = 0;
  const waiting = new Set<() => void>();
  let change = Promise.withResolvers<void>();
  const wake = (): void => {
    change.resolve();
    change = Promise.withResolvers<void>();
  };
  const tryEnter = (): boolean => {
    if (inside >= max) return false;
    inside += 1;
    return true;
  };
  return {
    get isFull() {
      return inside >= max || waiting.size > 0;
    },
    untilRoom: () => change.promise,
    wake,
    tryEnter,
    acquire: async (signal) => {
      while (!signal.aborted && !tryEnter()) {
        const turn = Promise.withResolvers<void>();
        const goOn = (): void => turn.resolve();
        waiting.add(goOn);
        signal.addEventListener("abort", goOn, { once: true });
        await turn.promise;
        signal.removeEventListener("abort", goOn);
        waiting.delete(goOn);
      }
      return !signal.aborted;
    },
    release: () => {
      inside -= 1;
      const [next] = waiting;
      next?.();
      wake();
    },
  };
}

/** The limit as the pollers take it. */
export function limitedSteps(template: { readonly resources: Resources }, max: number | undefined) {
  if (max === undefined) return {};
  return { steps: { gate: stepLimiter(max), queues: stepQueues(template.resources) } };
}

/** Queues whose messages ask for steps. */
function stepQueues({ rules }: Pick<Resources, "rules">): ReadonlySet<string> {
  const asks = rules.filter(({ pattern }) => JSON.stringify(pattern).includes(`"${STEP_REQUESTED}"`));
  return new Set(asks.flatMap(({ queues }) => queues));
}
