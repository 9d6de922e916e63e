/** The longest pause that follows from the time of a read, milliseconds. */
const PAUSE_MAX_MS = 2_000;

/**
 * A function that reads something again: at once, or if it is being read, after that. The more a read takes, the longer
 * the pause after it, so that a long run does not keep the browser busy. There is a pause of at least `pauseMinMs`.
 */
export function createRefresher(read: () => Promise<unknown>, pauseMinMs = 0): () => void {
  let isBusy = false;
  let isDue = false;
  const refresh = async (): Promise<void> => {
    if (isBusy) {
      isDue = true;
      return;
    }
    isBusy = true;
    const start = performance.now();
    await read().catch(() => undefined);
    const pause = Math.max(pauseMinMs, Math.min(PAUSE_MAX_MS, performance.now() - start));
    setTimeout(() => {
      isBusy = false;
      if (!isDue) return;
      isDue = false;
      void refresh();
    }, pause);
  };
  return () => void refresh();
}
