/** A server-sent event. */
export interface ReceivedEvent {
  readonly name: string;
  readonly id: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects
  readonly data: any;
}

const EVENT_MS = 10_000;

/** Reads a stream of server-sent events as clients do. */
export class TestEventStream implements AsyncDisposable {
  readonly response: Response;
  readonly events: ReceivedEvent[] = [];
  /** The id of the last event that has one. */
  lastId: string | undefined;
  /** Comments, which keep the connection open. */
  comments = 0;
  readonly #controller: AbortController;
  readonly #reader: ReadableStreamDefaultReader<string> | undefined;
  #text = "";
  #at = 0;

  private constructor(response: Response, controller: AbortController) {
    this.response = response;
    this.#controller = controller;
    this.#reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  }

  static async open(url: string, headers: Readonly<Record<string, string>>): Promise<TestEventStream> {
    const controller = new AbortController();
    const { signal } = controller;
    const response = await fetch(url, { headers: { accept: "text/event-stream", ...headers }, signal });
    return new TestEventStream(response, controller);
  }

  /** The next event; undefined at the end of the stream. Rejects if there is none in time. */
  async next(): Promise<ReceivedEvent | undefined> {
    for (;;) {
      const event = this.events[this.#at];
      if (event !== undefined) {
        this.#at += 1;
        return event;
      }
      if (!(await this.#read())) return undefined;
    }
  }

  /** Skips events until one has this name. Rejects at the end of the stream. */
  async until(name: string): Promise<ReceivedEvent> {
    for (let event = await this.next(); event !== undefined; event = await this.next())
      if (event.name === name) return event;
    throw new Error(`the stream ended without an event ${name}`);
  }

  /** The rest of the response as text. */
  async rest(): Promise<string> {
    while (await this.#read());
    return this.#text;
  }

  /** Reads to the end of the stream. */
  async end(): Promise<void> {
    while ((await this.next()) !== undefined);
  }

  async close(): Promise<void> {
    this.#controller.abort();
    await this.#reader?.cancel().catch(() => {});
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #read(): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error("the stream sends no event")), EVENT_MS);
    });
    try {
      const { done, value } = (await Promise.race([this.#reader?.read(), late])) ?? { done: true };
      if (done || value === undefined) return false;
      this.#text += value;
    } finally {
      clearTimeout(timer);
    }
    const blocks = this.#text.split("\n\n");
    this.#text = blocks.pop() ?? "";
    for (const block of blocks) this.#parse(block);
    return true;
  }

  #parse(block: string): void {
    const fields = new Map(block.split("\n").map((line) => line.split(/: ?(.*)/s, 2) as [string, string]));
    if (fields.has("")) this.comments += 1;
    const id = fields.get("id");
    if (id !== undefined) this.lastId = id;
    const name = fields.get("event");
    if (name === undefined) return;
    this.events.push({ name, id, data: JSON.parse(fields.get("data") ?? "null") });
  }
}
