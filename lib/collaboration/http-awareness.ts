import type { AwarenessHub } from "../documents/updates/awareness-hub.ts";
import {
  type AwarenessState,
  decodeAwareness,
  encodeAwareness,
  SERVER_AWARENESS_LIMITS,
} from "../documents/updates/awareness-update.ts";

/** Who sends the states of clients that are not connected to this process. */
const OWNER = "document service";
/** Time between two requests with the awareness of a document, milliseconds. */
const SEND_MS = 500;
/** Time for what the hub collects, milliseconds. */
const CLOSE_MS = 1_000;

/** Exchanges the awareness of a document between the hub of this process and the document service. */
export class HttpAwareness {
  readonly #hub: AwarenessHub;
  readonly #document: string;
  readonly #send: (awareness: string) => Promise<void>;
  readonly #unsubscribe: () => void;
  /** States that have not been sent, by client. */
  #unsent = new Map<number, AwarenessState>();
  #timer: NodeJS.Timeout | undefined;

  /** `send` takes an awareness update in base64. */
  constructor(hub: AwarenessHub, document: string, send: (awareness: string) => Promise<void>) {
    this.#hub = hub;
    this.#document = document;
    this.#send = send;
    this.#unsubscribe = hub.subscribe(document, (update, origins) => {
      if (origins.size > 1 || !origins.has(this)) this.#collect(update);
    });
  }

  /** Passes on an awareness update in base64 of the document service. */
  receive(awareness: string): void {
    const update = Buffer.from(awareness, "base64");
    const limits = SERVER_AWARENESS_LIMITS;
    void this.#hub.publish({ document: this.#document, update, owner: OWNER, origin: this, limits });
  }

  /** The hub reports clients that leave with the room a moment later. */
  close(): void {
    setTimeout(this.#unsubscribe, CLOSE_MS).unref();
  }

  #collect(update: Uint8Array): void {
    for (const state of decodeAwareness(update, SERVER_AWARENESS_LIMITS) ?? [])
      this.#unsent.set(state.client, state);
    this.#timer ??= setTimeout(() => void this.#flush(), SEND_MS).unref();
  }

  async #flush(): Promise<void> {
    const states = [...this.#unsent.values()].slice(0, SERVER_AWARENESS_LIMITS.clients);
    for (const { client } of states) this.#unsent.delete(client);
    // What is not sent is renewed by its client within seconds.
    await this.#send(Buffer.from(encodeAwareness(states)).toString("base64")).catch(() => {});
    this.#timer = undefined;
    if (this.#unsent.size > 0) this.#timer = setTimeout(() => void this.#flush(), SEND_MS).unref();
  }
}
