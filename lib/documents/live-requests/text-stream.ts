/** Text that has not been sent yet, of several streams together. */
export interface UnsentText {
  /** Characters. */
  length: number;
}

export interface TextStreamOptions {
  /** Limits of the unsent text, characters: of this stream, and of all that share `unsent`. */
  readonly max: number;
  readonly totalMax: number;
  readonly unsent: UnsentText;
  /** Called once, when nothing more is accepted. */
  onEnd(): void;
}

/** Characters that are written at once. */
const CHUNK = 256 * 1024;

/**
 * The content of a response that is written while it is produced. A reader that is too slow loses it: the unsent text is
 * dropped, and the stream ends.
 */
export class TextStream implements AsyncIterableIterator<string> {
  readonly #options: TextStreamOptions;
  #waiting: string[] = [];
  /** Characters in `#waiting`: of all texts, and of those that count as unread. */
  #length = 0;
  #unread = 0;
  #hasEnded = false;
  #wake: (() => void) | undefined;

  constructor(options: TextStreamOptions) {
    this.#options = options;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Adds text that the client has requested and may receive as slowly as it wants. */
  pushRequested(text: string): void {
    if (this.#hasEnded) return;
    this.#add(text);
  }

  push(text: string): void {
    if (this.#hasEnded) return;
    const { max, totalMax, unsent } = this.#options;
    // A single text may be longer than the limit.
    if (this.#unread > 0 && (this.#unread + text.length > max || unsent.length + text.length > totalMax)) {
      this.#drop();
      this.end();
      return;
    }
    this.#unread += text.length;
    this.#add(text);
  }

  /** Ends the stream after the unsent text. */
  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#wake?.();
    this.#options.onEnd();
  }

  async next(): Promise<IteratorResult<string, undefined>> {
    while (this.#waiting.length === 0 && !this.#hasEnded)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    this.#wake = undefined;
    const value = this.#take();
    return value === "" ? { done: true, value: undefined } : { done: false, value };
  }

  /** Called when the client has disconnected. */
  async return(): Promise<IteratorResult<string, undefined>> {
    this.#drop();
    this.end();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #add(text: string): void {
    this.#waiting.push(text);
    this.#length += text.length;
    this.#options.unsent.length += text.length;
    this.#wake?.();
  }

  #take(): string {
    let value = "";
    for (let text = this.#waiting.shift(); text !== undefined; text = this.#waiting.shift()) {
      value += text;
      if (value.length >= CHUNK) break;
    }
    if (value.length > CHUNK) {
      this.#waiting.unshift(value.slice(CHUNK));
      value = value.slice(0, CHUNK);
    }
    this.#length -= value.length;
    this.#unread = Math.min(this.#unread, this.#length);
    this.#options.unsent.length -= value.length;
    return value;
  }

  #drop(): void {
    this.#options.unsent.length -= this.#length;
    this.#waiting = [];
    this.#length = 0;
    this.#unread = 0;
  }
}
