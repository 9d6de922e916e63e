/** Wakes a reader when there is something new; a notification while nobody waits is not lost. */
export class WakeSignal {
  #isPending = false;
  #wake: (() => void) | undefined;

  readonly notify = (): void => {
    this.#isPending = true;
    this.#wake?.();
  };

  /** Resolves after a notification, after a time in milliseconds, or when the signal is aborted. */
  async wait(milliseconds: number, signal: AbortSignal): Promise<void> {
    if (!this.#isPending && !signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      const timer = setTimeout(resolve, milliseconds);
      const stop = (): void => resolve();
      signal.addEventListener("abort", stop);
      await promise;
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
      this.#wake = undefined;
    }
    this.#isPending = false;
  }
}
