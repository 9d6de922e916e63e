import type { Schemas } from "../../../client/api.ts";
import { noteFailure, noteResponse } from "../../api/connection.ts";
import type { Run } from "../../api/runs.ts";

export type LogPart = Schemas["RunLog"];

/** The browser connects again after half a second; a longer gap is a lost connection, milliseconds. */
const LOST_AFTER_MS = 2_500;
/** Time until a stream that the server refused is opened again, milliseconds. */
const REOPEN_MS = 5_000;

interface Handlers {
  readonly onRun: (run: Run) => void;
  /** A step of the run, or the run itself, has started or ended. */
  readonly onEvent: () => void;
  readonly onEnd: () => void;
}

/**
 * The server-sent events of a run. A connection that was lost is opened again where it ended, so nothing is missed.
 * A hidden page has no connection: browsers allow six for all pages of a server.
 */
export class RunStream {
  readonly #id: string;
  readonly #handlers: Handlers;
  #source: EventSource | undefined;
  #event = "0";
  #logOffset: number | undefined;
  readonly #logListeners = new Set<(part: LogPart) => void>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isEnded = false;
  #isClosed = true;

  constructor(id: string, handlers: Handlers) {
    this.#id = id;
    this.#handlers = handlers;
  }

  open(): void {
    this.#isClosed = false;
    document.addEventListener("visibilitychange", this.#onVisibility);
    this.#connect();
  }

  close(): void {
    this.#isClosed = true;
    document.removeEventListener("visibilitychange", this.#onVisibility);
    this.#disconnect();
  }

  /** Calls `listener` with each further part of the run's log from an offset on, until the returned function is called. */
  followLog(offset: number, listener: (part: LogPart) => void): () => void {
    this.#logListeners.add(listener);
    if (this.#logOffset === undefined || this.#logOffset > offset) {
      this.#logOffset = offset;
      if (!this.#isClosed && !this.#isEnded) this.#connect();
    }
    return () => {
      this.#logListeners.delete(listener);
      if (this.#logListeners.size > 0) return;
      this.#logOffset = undefined;
      if (!this.#isClosed && !this.#isEnded) this.#connect();
    };
  }

  readonly #onVisibility = (): void => {
    if (document.hidden) this.#disconnect();
    else this.#connect();
  };

  #disconnect(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#source?.close();
    this.#source = undefined;
  }

  #connect(): void {
    this.#disconnect();
    if (this.#isEnded || document.hidden) return;
    const query = new URLSearchParams({
      log: String(this.#logOffset !== undefined),
      after: `${this.#event}.${this.#logOffset ?? 0}`,
    });
    const source = new EventSource(`/automation/runs/${encodeURIComponent(this.#id)}/stream?${query}`);
    this.#source = source;
    const on = (type: string, handle: (data: string) => void): void =>
      source.addEventListener(type, ({ data, lastEventId }: MessageEvent<string>) => {
        const [event = ""] = lastEventId.split(".");
        if (event !== "") this.#event = event;
        handle(data);
      });
    on("run", (data) => this.#handlers.onRun(JSON.parse(data) as Run));
    on("event", () => this.#handlers.onEvent());
    on("log", (data) => {
      const part = JSON.parse(data) as LogPart;
      this.#logOffset = part.next_offset;
      for (const listener of this.#logListeners) listener(part);
    });
    on("end", () => {
      this.#isEnded = true;
      this.#disconnect();
      this.#handlers.onEnd();
    });
    source.onopen = () => {
      clearTimeout(this.#timer);
      this.#timer = undefined;
      noteResponse();
    };
    source.onerror = () => {
      if (source.readyState === EventSource.CLOSED) {
        // The server responded with an error, such as 429: the browser does not connect again.
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => {
          this.#timer = undefined;
          this.#connect();
        }, REOPEN_MS);
        return;
      }
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined;
        noteFailure();
      }, LOST_AFTER_MS);
    };
  }
}
