import { EXIT_CANCELLED } from "./command.ts";

/** One Ctrl-C may arrive twice, from the terminal and from npm; a second one is a person's after this, milliseconds. */
const SECOND_INTERRUPT_MS = 250;

/**
 * The first SIGINT or SIGTERM asks for an orderly end, a second SIGINT leaves at once with 130. Answers what undoes it.
 */
export function onInterrupt(first: () => void, leave: () => void): () => void {
  let asked: number | undefined;
  const ask = (): void => {
    if (asked !== undefined) return;
    asked = performance.now();
    first();
  };
  const interrupt = (): void => {
    if (asked !== undefined && performance.now() - asked > SECOND_INTERRUPT_MS) {
      leave();
      process.exit(EXIT_CANCELLED);
    }
    ask();
  };
  process.on("SIGINT", interrupt);
  process.on("SIGTERM", ask);
  return () => {
    process.off("SIGINT", interrupt);
    process.off("SIGTERM", ask);
  };
}
