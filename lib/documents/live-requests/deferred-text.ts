/** Characters that are written at once. */
const CHUNK = 256 * 1024;

/** The content of a response that takes a while. If the client disconnects meanwhile, the signal is aborted. */
export class DeferredText implements AsyncIterableIterator<string> {
  readonly #produce: (signal: AbortSignal) => Promise<string>;
  readonly #controller = new AbortController();
  #rest: string | undefined;

  constructor(produce: (signal: AbortSignal) => Promise<string>) {
    this.#produce = produce;
  }

  async next(): Promise<IteratorResult<string, undefined>> {
    if (this.#controller.signal.aborted) return { done: true, value: undefined };
    const text = this.#rest ?? (await this.#produce(this.#controller.signal));
    this.#rest = text.slice(CHUNK);
    const value = text.slice(0, CHUNK);
    return value === "" ? { done: true, value: undefined } : { done: false, value };
  }

  async return(): Promise<IteratorResult<string, undefined>> {
    this.#controller.abort();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
