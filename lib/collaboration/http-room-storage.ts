import { setTimeout as sleep } from "node:timers/promises";
import type { AwarenessHub } from "../documents/updates/awareness-hub.ts";
import { ApiError, ERROR_STATUS, type ErrorCode } from "../errors.ts";
import type { Log } from "../platform/log.ts";
import type { BackendRequest, RequestBackend } from "./backend.ts";
import { type CollaborationNode, type HeldRoom, roomMoved } from "./collaboration-node.ts";
import { HttpAwareness } from "./http-awareness.ts";
import type { RoomLogListener, RoomLogSource, RoomStorage } from "./room-storage.ts";

export interface HttpRoomStorageOptions {
  readonly request: RequestBackend;
  /** Identifies this server to the document service. */
  readonly key: string;
  /** Of the clients of this process. */
  readonly awarenessHub?: AwarenessHub;
  readonly log: Log;
  /** This process, if there may be several: it takes a room before it opens a log. */
  readonly node?: CollaborationNode;
}

/** Updates of one request, and their size, bytes. */
const BATCH_MAX = 100;
const BATCH_MAX_BYTES = 1024 * 1024;
/** Updates that wait for the request in progress. */
const WAITING_MAX = 10_000;
/** Time that a request waits for updates of other writers, seconds, and the pause after a failed one, milliseconds. */
const WAIT_SECONDS = 20;
const PAUSE_MS = 500;

/** The update logs of a document service that another process is: appended and followed over HTTP. */
export function httpRoomStorage(options: HttpRoomStorageOptions): RoomStorage {
  return {
    open: async (document) => {
      const room = await options.node?.take(document);
      try {
        const { generation, position, updates } = await read(options, document, "");
        const state = updates[0] ?? new Uint8Array();
        return new HttpLog(options, document, { generation, position, state }, room);
      } catch (error) {
        room?.release();
        throw error;
      }
    },
  };
}

interface Updates {
  readonly generation: number;
  readonly position: number;
  readonly updates: readonly Uint8Array[];
  readonly awareness: string | undefined;
  readonly awarenessTag: string | undefined;
}

async function read(
  { request, key }: HttpRoomStorageOptions,
  document: string,
  query: string,
  wait: Pick<BackendRequest, "waitMs" | "signal"> = {},
): Promise<Updates> {
  const response = await request({
    method: "GET",
    path: `${pathOf(document)}${query}`,
    headers: { authorization: `Bearer ${key}` },
    address: "",
    ...wait,
  });
  if (response.status !== 200) throw toError(response);
  const { generation, position, updates, awareness, awareness_tag } = response.body as {
    generation: number;
    position: number;
    updates: readonly string[];
    awareness?: string;
    awareness_tag?: string;
  };
  return {
    generation,
    position,
    updates: updates.map((one) => new Uint8Array(Buffer.from(one, "base64"))),
    awareness,
    awarenessTag: awareness_tag,
  };
}

const pathOf = (document: string): string =>
  `/api/v1.0/collaboration/documents/${encodeURIComponent(document)}/updates/`;

interface Waiting {
  readonly update: Uint8Array;
  readonly author: string | null;
  resolve(): void;
  reject(error: unknown): void;
}

class HttpLog implements RoomLogSource {
  readonly generation: number;
  readonly #options: HttpRoomStorageOptions;
  readonly #document: string;
  readonly #room: HeldRoom | undefined;
  readonly #closed = new AbortController();
  #first: { readonly state: Uint8Array } | undefined;
  #position: number;
  #waiting: Waiting[] = [];
  #isSending = false;

  constructor(
    options: HttpRoomStorageOptions,
    document: string,
    first: { readonly generation: number; readonly position: number; readonly state: Uint8Array },
    room: HeldRoom | undefined,
  ) {
    this.#options = options;
    this.#room = room;
    this.#document = document;
    this.#first = first;
    this.generation = first.generation;
    this.#position = first.position;
  }

  /** The content that was read when the log was opened, once. */
  async read(): Promise<{ readonly state: Uint8Array }> {
    const first = this.#first;
    this.#first = undefined;
    if (first !== undefined) return first;
    const { generation, updates } = await read(this.#options, this.#document, "");
    if (generation !== this.generation) throw new ApiError("precondition_failed", "The content was replaced");
    return { state: updates[0] ?? new Uint8Array() };
  }

  append(update: Uint8Array, { author }: { readonly author: string | null }): Promise<void> {
    if (this.#room?.isLost === true) return Promise.reject(roomMoved());
    if (this.#waiting.length >= WAITING_MAX)
      return Promise.reject(new ApiError("too_many_requests", "Too many updates wait to be saved"));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ update, author, resolve, reject });
      if (!this.#isSending) void this.#sendAll();
    });
  }

  subscribe(listener: RoomLogListener): () => void {
    const stop = new AbortController();
    void this.#follow(listener, AbortSignal.any([stop.signal, this.#closed.signal]));
    this.#room?.onLost(() => {
      if (!stop.signal.aborted) listener.onEnd("moved");
    });
    return () => stop.abort();
  }

  close(): void {
    this.#closed.abort();
    this.#room?.release();
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true;
    while (this.#waiting.length > 0) await this.#sendBatch(this.#nextBatch());
    this.#isSending = false;
  }

  /** Updates of one author, in the order of their arrival. */
  #nextBatch(): Waiting[] {
    const author = this.#waiting[0]?.author;
    let bytes = 0;
    let count = 0;
    for (const one of this.#waiting) {
      bytes += one.update.length;
      if (one.author !== author || count >= BATCH_MAX || (count > 0 && bytes > BATCH_MAX_BYTES)) break;
      count += 1;
    }
    return this.#waiting.splice(0, count);
  }

  async #sendBatch(batch: readonly Waiting[]): Promise<void> {
    try {
      await this.#send(batch);
      for (const { resolve } of batch) resolve();
    } catch (error) {
      const isOneInvalid = error instanceof ApiError && REFUSED.has(error.code) && batch.length > 1;
      if (isOneInvalid) for (const one of batch) await this.#sendBatch([one]);
      else for (const { reject } of batch) reject(error);
    }
  }

  #send(batch: readonly Waiting[]): Promise<void> {
    const updates = batch.map(({ update }) => Buffer.from(update).toString("base64"));
    return this.#post({ updates }, batch[0]?.author ?? null);
  }

  async #post(
    body: { readonly updates: readonly string[] } | { readonly awareness: string },
    author: string | null,
  ): Promise<void> {
    const { request, key } = this.#options;
    const response = await request({
      method: "POST",
      path: pathOf(this.#document),
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        ...(author === null ? {} : { "x-user-id": author }),
      },
      body: { generation: this.generation, lease: this.#room?.lease, ...body },
      address: "",
    }).catch((cause: unknown) => {
      throw new ApiError("unavailable", "The document service does not respond", { cause });
    });
    if ((response.body as { lease?: unknown } | undefined)?.lease === "lost") {
      this.#room?.lose();
      throw roomMoved();
    }
    if (response.status !== 200) throw toError(response);
  }

  /** Passes on what others append, and the own updates again, which change nothing. */
  async #follow(listener: RoomLogListener, signal: AbortSignal): Promise<void> {
    const { awarenessHub } = this.#options;
    const cursors =
      awarenessHub &&
      new HttpAwareness(awarenessHub, this.#document, (awareness) => this.#post({ awareness }, null));
    signal.addEventListener("abort", () => cursors?.close());
    let tag = "";
    while (!signal.aborted) {
      const query = `?generation=${this.generation}&position=${this.#position}&wait=${WAIT_SECONDS}&awareness_tag=${tag}`;
      try {
        const wait = { waitMs: WAIT_SECONDS * 1000, signal };
        const found = await read(this.#options, this.#document, query, wait);
        const { position, updates, awareness, awarenessTag = tag } = found;
        this.#position = position;
        tag = awarenessTag;
        if (updates.length > 0) listener.onEntry({ updates }, []);
        if (awareness !== undefined) cursors?.receive(awareness);
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof ApiError && ENDED.has(error.code)) {
          listener.onEnd();
          return;
        }
        this.#options.log.warn("the updates of other writers could not be read", {
          document: this.#document,
          error,
        });
        await sleep(PAUSE_MS);
      }
    }
  }
}

/** Errors of one update of a request. */
const REFUSED: ReadonlySet<string> = new Set(["bad_request", "payload_too_large"]);
/** Errors of a log whose document was deleted or replaced. */
const ENDED: ReadonlySet<string> = new Set(["not_found", "precondition_failed"]);

const CODES = new Map<number, ErrorCode>(
  Object.entries(ERROR_STATUS).map(([code, status]) => [status, code as ErrorCode] as const),
);

function toError({ status, body }: { readonly status: number; readonly body: unknown }): ApiError {
  const { detail, updates } = (body ?? {}) as { detail?: unknown; updates?: readonly unknown[] };
  const message = typeof detail === "string" ? detail : updates?.[0];
  const code = CODES.get(status) ?? "unavailable";
  return new ApiError(
    code === "unauthorized" || code === "forbidden" ? "unavailable" : code,
    typeof message === "string" ? message : `The document service responds with ${status}`,
  );
}
