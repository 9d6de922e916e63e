import type { Ports } from "../../platform/ports.ts";
import { overMark } from "./messages.ts";

/** How often a running step looks whether its run is over, milliseconds. */
const LOOK_EVERY_MS = 400;

export interface RunWatch {
  /** Aborted when the run is over, or the platform stops. */
  readonly signal: AbortSignal;
  /** True where the run is over: the result is nobody's any more. */
  isOver(): boolean;
  stop(): void;
}

/** Watches for the end of a run while one of its steps is executed. */
export function watchRun(deps: Pick<Ports, "claims" | "log">, runId: string, outer: AbortSignal): RunWatch {
  const controller = new AbortController();
  let over = false;
  let busy = false;
  const look = async (): Promise<void> => {
    if (busy || over) return;
    busy = true;
    try {
      over = await deps.claims.isTaken(overMark(runId));
      if (over) controller.abort();
    } catch (error) {
      deps.log.warn("whether a run is over could not be seen", { run: runId, error });
    }
    busy = false;
  };
  const timer = setInterval(() => void look(), LOOK_EVERY_MS);
  timer.unref();
  const onOuter = (): void => controller.abort();
  outer.addEventListener("abort", onOuter, { once: true });
  if (outer.aborted) controller.abort();
  return {
    signal: controller.signal,
    isOver: () => over,
    stop: () => {
      clearInterval(timer);
      outer.removeEventListener("abort", onOuter);
    },
  };
}
