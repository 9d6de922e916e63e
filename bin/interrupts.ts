import { EXIT_CANCELLED } from "./errors.ts";

/** npm and the terminal may both deliver one Ctrl-C; a SIGINT after this time is a second one. */
const SECOND_INTERRUPT_MS = 250;

/**
 * Calls `stop` at the first SIGINT or SIGTERM. A second SIGINT calls `beforeExit` and exits with 130. Returns a
 * function that removes the handlers.
 */
export function onInterrupt(stop: () => void, beforeExit: () => void): () => void {
  let stoppedAt: number | undefined;
  const stopOnce = (): void => {
    if (stoppedAt !== undefined) return;
    stoppedAt = performance.now();
    stop();
  };
  const interrupt = (): void => {
    if (stoppedAt !== undefined && performance.now() - stoppedAt > SECOND_INTERRUPT_MS) {
      beforeExit();
      process.exit(EXIT_CANCELLED);
    }
    stopOnce();
  };
  process.on("SIGINT", interrupt);
  process.on("SIGTERM", stopOnce);
  return () => {
    process.off("SIGINT", interrupt);
    process.off("SIGTERM", stopOnce);
  };
}
