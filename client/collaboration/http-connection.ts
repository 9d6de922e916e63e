import { type Awareness, applyAwarenessUpdate, encodeAwarenessUpdate } from "y-protocols/awareness";
import * as Y from "yjs";
import { fromBase64, toBase64 } from "./base64.ts";
import { readEvents, type StreamEvent } from "./event-stream.ts";
import type { Permissions, Received } from "./received.ts";
import { reasonOf, TooLargeError } from "./too-large.ts";
import { wait } from "./wait.ts";

export interface HttpConnectionOptions {
  /** `…/api/v1.0/documents/{id}/updates/` */
  readonly url: string;
  readonly fetch: typeof fetch;
  headers(): Readonly<Record<string, string>>;
  readonly document: Y.Doc;
  readonly awareness: Awareness;
  /** The generation of the content that the document has; undefined if it is empty. */
  readonly generation: number | undefined;
  /** Whether an update comes from the server, by whatever connection. */
  isRemote(origin: unknown): boolean;
  /** Whether the document has changes that the server may not have. */
  hasUnsaved(): boolean;
  onConnected(isConnected: boolean): void;
  /** The document has everything that the server has. */
  onSynced(generation: number): void;
  /** Everything is on disk. */
  onSaved(): void;
  onPermissions(canRead: boolean, canEdit: boolean): void;
  /** The content was replaced as a whole. */
  onReplaced(): void;
  /** The server does not accept what the document has, or accepts it again (undefined). Nothing is saved in between. */
  onRefused(reason: string | undefined): void;
  /** Time for the first event of a stream, milliseconds. */
  readonly streamMs?: number | undefined;
}

/** Time in which updates are collected before they are sent, milliseconds. */
const BATCH_MS = 100;
/** Time between two requests with the own cursor, milliseconds. */
const CURSOR_MS = 1_000;
/** Pauses after failures, milliseconds. */
const RETRY_MS = [250, 500, 1_000, 2_000, 5_000] as const;
/** Time for the first event: a proxy that holds responses back is detected by it, milliseconds. */
const FIRST_EVENT_MS = 5_000;
/** Heartbeats arrive every 15 s, milliseconds. */
const SILENCE_MS = 40_000;
const POLL_SECONDS = 20;
const REQUEST_MS = 30_000;
/** The largest update that the server accepts. */
const UPDATE_MAX_BYTES = 8 * 1024 * 1024;

/** Keeps a document in sync with the server by HTTP: receives server-sent events, or polls; sends by POST. */
export class HttpConnection {
  readonly #options: HttpConnectionOptions;
  readonly #stop = new AbortController();
  #generation: number | undefined;
  /** Position in the log of the server; undefined before the first synchronization. */
  #position: number | undefined;
  /** Updates that the server has not acknowledged. */
  #unsent: Uint8Array[] = [];
  /** Largest request, bytes of updates, unless one update is larger. */
  #batchBytes = UPDATE_MAX_BYTES;
  /** Number of changes of the document. */
  #changes = 0;
  /** Number of changes when the server refused them: to send the same again is useless. */
  #refusedAt: number | undefined;
  /** Whether the state of the own cursor must be sent. */
  #hasMoved = false;
  /** When it was sent last, milliseconds of `performance.now()`. */
  #movedAt = Number.NEGATIVE_INFINITY;
  #awarenessTag = "";
  #isSending = false;
  #canEdit = true;
  /** What the server has told last; undefined before that. A denial tells less: it may be out of date. */
  #mayPatch: boolean | undefined;
  #polls = false;
  /** The request in progress that receives. */
  #receiving = new AbortController();
  /** The server must be asked what may be done: it has denied an update. */
  #mustAsk = false;
  /** Updates denied one after the other. */
  #denials = 0;

  constructor(options: HttpConnectionOptions) {
    this.#options = options;
    this.#generation = options.generation;
    options.document.on("update", this.#onUpdate);
    options.awareness.on("update", this.#onAwareness);
    void this.#receive();
  }

  /** Ends the connection, and removes the cursor: a client that uses another connection then shows it there. */
  close({ isLeaving = false } = {}): void {
    if (this.#position !== undefined) this.#removeCursor(isLeaving);
    this.#options.document.off("update", this.#onUpdate);
    this.#options.awareness.off("update", this.#onAwareness);
    this.#stop.abort();
  }

  #removeCursor(isLeaving: boolean): void {
    const { awareness, document, url, fetch: send, headers } = this.#options;
    if (isLeaving) awareness.setLocalState(null);
    if (!awareness.meta.has(document.clientID)) return;
    const update = encodeAwarenessUpdate(awareness, [document.clientID], new Map());
    const showAgain = (): void => {
      const state = awareness.getLocalState();
      if (state !== null) awareness.setLocalState(state);
    };
    // `keepalive`: the page may be about to close.
    send(url, {
      method: "POST",
      keepalive: true,
      headers: { "content-type": "application/json", ...headers() },
      body: JSON.stringify({ awareness: toBase64(update) }),
    }).then(
      (response) => {
        void response.body?.cancel();
        // The server accepts the state by another connection once it knows that this one has ended.
        if (!isLeaving) setTimeout(showAgain, CURSOR_MS);
      },
      () => {},
    );
  }

  readonly #onUpdate = (update: Uint8Array, origin: unknown): void => {
    // Before the first synchronization it is not known what the server lacks.
    if (this.#options.isRemote(origin) || this.#position === undefined) return;
    this.#unsent.push(update);
    this.#changes += 1;
    void this.#send();
  };

  readonly #onAwareness = (_changes: unknown, origin: unknown): void => {
    if (origin !== "local") return;
    this.#hasMoved = true;
    if (this.#position !== undefined) void this.#send();
  };

  async #receive(): Promise<void> {
    let failures = 0;
    while (!this.#stop.signal.aborted) {
      const receiving = new AbortController();
      this.#receiving = receiving;
      try {
        await (this.#polls ? this.#poll(receiving.signal) : this.#stream(receiving.signal));
        failures = 0;
        await this.#wait(BATCH_MS);
      } catch {
        if (this.#stop.signal.aborted) return;
        if (receiving.signal.aborted) continue;
        this.#options.onConnected(false);
        await this.#pause(failures);
        failures += 1;
      }
    }
  }

  async #stream(signal: AbortSignal): Promise<void> {
    const silence = new AbortController();
    const headers: Record<string, string> = { accept: "text/event-stream" };
    if (this.#position !== undefined) headers["last-event-id"] = `${this.#generation}.${this.#position}`;
    let timer = setTimeout(() => silence.abort(), this.#options.streamMs ?? FIRST_EVENT_MS);
    let hasEvent = false;
    try {
      const vector = toBase64(Y.encodeStateVector(this.#options.document));
      const query = this.#position === undefined ? this.#query({ state_vector: vector }) : "";
      const response = await this.#request(query, {
        headers,
        signal: AbortSignal.any([signal, silence.signal]),
      });
      for await (const event of readEvents(response.body ?? new ReadableStream())) {
        hasEvent = true;
        clearTimeout(timer);
        timer = setTimeout(() => silence.abort(), SILENCE_MS);
        if (event !== undefined) this.#handle(event);
        if (this.#stop.signal.aborted) return;
      }
    } catch (error) {
      if (!hasEvent && silence.signal.aborted) this.#polls = true;
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  async #poll(signal: AbortSignal): Promise<void> {
    if (this.#position === undefined) return this.#synchronize();
    const query = this.#query({
      position: `${this.#position}`,
      wait: `${this.#mustAsk ? 0 : POLL_SECONDS}`,
      awareness_tag: this.#awarenessTag,
      ...(this.#mayPatch === undefined ? {} : { content_patch: `${this.#mayPatch}` }),
    });
    this.#mustAsk = false;
    this.#apply(await this.#receiveOnce(query, signal));
  }

  /** Receives what the document lacks, and finds out what the server lacks. */
  async #synchronize(): Promise<void> {
    const vector = toBase64(Y.encodeStateVector(this.#options.document));
    this.#apply(await this.#receiveOnce(this.#query({ state_vector: vector })));
  }

  async #receiveOnce(query: string, signal = this.#stop.signal): Promise<Received> {
    const response = await this.#request(query, {
      signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_MS)]),
    });
    return (await response.json()) as Received;
  }

  /** A state vector that is too long for a URL is left out: the whole content is received then. */
  #query(values: Record<string, string>): string {
    const { state_vector: vector, ...others } = values;
    const query = new URLSearchParams(vector === undefined || vector.length > 4_000 ? others : values);
    if (this.#generation !== undefined) query.set("generation", `${this.#generation}`);
    return `?${query}`;
  }

  #handle({ name, data }: StreamEvent): void {
    const value = JSON.parse(data);
    if (name === "sync" || name === "update") this.#apply(value);
    else if (name === "awareness")
      applyAwarenessUpdate(this.#options.awareness, fromBase64(value.update), this);
    else if (name === "end") this.#options.onReplaced();
    else if (name === "permissions") {
      if (this.#position !== undefined) this.#options.onConnected(true);
      this.#setPermissions(value);
    }
  }

  #setPermissions({ content_retrieve: canRead, content_patch: canEdit }: Permissions): void {
    this.#canEdit = canEdit;
    this.#mayPatch = canEdit;
    this.#options.onPermissions(canRead, canEdit);
    void this.#send();
  }

  /**
   * The server denies an update. The right may be back before the connection was told of its loss, so the server is asked,
   * after longer and longer pauses.
   */
  #onDenied(): void {
    this.#canEdit = false;
    this.#options.onPermissions(true, false);
    void this.#pause(this.#denials).then(() => {
      this.#mustAsk = true;
      this.#receiving.abort();
    });
    this.#denials += 1;
  }

  #apply({ generation, position, updates, state_vector: vector, ...received }: Received): void {
    if (this.#stop.signal.aborted) return;
    const { awareness, awareness_tag: tag = this.#awarenessTag, permissions } = received;
    const { document, hasUnsaved, onConnected, onSynced } = this.#options;
    document.transact(() => {
      for (const update of updates) Y.applyUpdate(document, fromBase64(update), this);
    }, this);
    this.#generation = generation;
    this.#position = position;
    this.#awarenessTag = tag;
    if (awareness !== undefined) applyAwarenessUpdate(this.#options.awareness, fromBase64(awareness), this);
    if (permissions !== undefined) this.#setPermissions(permissions);
    if (vector !== undefined)
      this.#unsent = hasUnsaved() ? [Y.encodeStateAsUpdate(document, fromBase64(vector))] : [];
    onConnected(true);
    onSynced(generation);
    if (vector !== undefined) this.#hasMoved = this.#options.awareness.getLocalState() !== null;
    void this.#send();
  }

  #hasUpdates(): boolean {
    return this.#unsent.length > 0 && this.#canEdit && this.#refusedAt !== this.#changes;
  }

  async #send(): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    let failures = 0;
    while ((this.#hasMoved || this.#hasUpdates()) && !this.#stop.signal.aborted) {
      await this.#wait(BATCH_MS);
      if (!this.#hasUpdates() && !this.#isCursorDue()) continue;
      const changes = this.#changes;
      let sent: Uint8Array[] = [];
      try {
        // What was too large may have been deleted since then: the document contains less than its updates.
        if (this.#hasUpdates() && this.#refusedAt !== undefined) await this.#synchronize();
        if (this.#hasUpdates()) sent = this.#takeBatch();
        if (sent.length === 0 && !this.#isCursorDue()) continue;
        await this.#post(sent);
        failures = 0;
        if (sent.length > 0) this.#onAccepted();
      } catch (error) {
        // Another connection sends these changes, and reports whether they are accepted.
        if (this.#stop.signal.aborted) return;
        this.#unsent = [...sent, ...this.#unsent];
        if (error instanceof TooLargeError && sent.length > 1) {
          this.#batchBytes = Math.floor(sizeOf(sent) / 2);
          continue;
        }
        if (error instanceof TooLargeError && sent.length > 0) this.#onTooLarge(error.message, changes);
        await this.#pause(failures);
        failures += 1;
      }
    }
    this.#isSending = false;
  }

  /** Removes the next updates to send. */
  #takeBatch(): Uint8Array[] {
    let bytes = 0;
    const end = this.#unsent.findIndex(({ length }, at) => {
      bytes += length;
      return at > 0 && bytes > this.#batchBytes;
    });
    return this.#unsent.splice(0, end === -1 ? this.#unsent.length : end);
  }

  #onAccepted(): void {
    if (this.#stop.signal.aborted) return;
    this.#denials = 0;
    if (this.#refusedAt !== undefined) this.#options.onRefused(undefined);
    this.#refusedAt = undefined;
    if (this.#unsent.length === 0) this.#options.onSaved();
  }

  #onTooLarge(reason: string, changes: number): void {
    if (this.#refusedAt === undefined) this.#options.onRefused(reason);
    this.#refusedAt = changes;
  }

  async #post(updates: readonly Uint8Array[]): Promise<void> {
    const { awareness, document } = this.#options;
    const merged = updates.length === 0 ? undefined : Y.mergeUpdates([...updates]);
    if (merged !== undefined && merged.length > UPDATE_MAX_BYTES)
      throw new TooLargeError("A change is larger than 8 MiB.");
    const isCursorDue = this.#isCursorDue();
    const cursor = isCursorDue ? encodeAwarenessUpdate(awareness, [document.clientID]) : undefined;
    if (isCursorDue) this.#hasMoved = false;
    if (isCursorDue) this.#movedAt = performance.now();
    const body = {
      generation: this.#generation,
      ...(merged === undefined ? {} : { updates: [toBase64(merged)] }),
      ...(cursor === undefined ? {} : { awareness: toBase64(cursor) }),
    };
    try {
      await this.#request("", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(REQUEST_MS),
      });
    } catch (error) {
      if (isCursorDue) this.#hasMoved = true;
      throw error;
    }
  }

  #isCursorDue(): boolean {
    return this.#hasMoved && performance.now() - this.#movedAt >= CURSOR_MS;
  }

  /** Throws for a response that is an error. */
  async #request(query: string, init: RequestInit & { readonly signal: AbortSignal }): Promise<Response> {
    const { url, fetch: send, headers, onPermissions, onReplaced } = this.#options;
    const response = await send(`${url}${query}`, {
      ...init,
      headers: { ...headers(), ...(init.headers as Record<string, string>) },
      signal: AbortSignal.any([init.signal, this.#stop.signal]),
    });
    const { status } = response;
    if (response.ok) return response;
    if (status === 413) throw new TooLargeError(await reasonOf(response));
    await response.body?.cancel();
    if (this.#stop.signal.aborted) throw new Error("closed");
    if (status === 412) onReplaced();
    else if (init.method === "POST" && (status === 401 || status === 403)) this.#onDenied();
    else if (status === 401 || status === 403 || status === 404) onPermissions(false, false);
    throw new Error(`the server responds with ${status}`);
  }

  #pause(failures: number): Promise<void> {
    return this.#wait(RETRY_MS[Math.min(failures, RETRY_MS.length - 1)] ?? 0);
  }

  #wait(milliseconds: number): Promise<void> {
    return wait(milliseconds, this.#stop.signal);
  }
}

const sizeOf = (updates: readonly Uint8Array[]): number =>
  updates.reduce((sum, { length }) => sum + length, 0);
