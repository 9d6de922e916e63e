import { hash } from "node:crypto";
import type { Log } from "../../platform/log.ts";
import { AWARENESS_EXPIRY_MS, type AwarenessStore, hashOwner, type OwnedState } from "./awareness-store.ts";
import {
  type AwarenessLimits,
  type AwarenessState,
  decodeAwareness,
  encodeAwareness,
} from "./awareness-update.ts";

/** States that are kept: of all documents, and of one; of one in the store. */
const STATES_MAX = 5_000;
const STATES_PER_DOCUMENT_MAX = 1_000;
const STORED_PER_DOCUMENT_MAX = 200;
/** Time between two calls of a listener, milliseconds. */
const BATCH_MS = 200;
/** Time between two writes of one client's state, milliseconds. */
const WRITE_MS = 1_000;

export interface AwarenessUpdate {
  readonly document: string;
  /** Encoded by y-protocols, from one caller. */
  readonly update: Uint8Array;
  /** Who sends it: nobody else may change the states of the same clients until they leave or expire. */
  readonly owner: string;
  /** Passed to the listeners. */
  readonly origin?: unknown;
  /** Larger limits, for the collaboration server. */
  readonly limits?: AwarenessLimits;
}

/** The awareness of a document at a moment. */
export interface AwarenessSnapshot {
  readonly update: Uint8Array;
  /** Differs if a state differs. */
  readonly tag: string;
}

/** Receives an encoded update, with the origins of its states. */
export type AwarenessListener = (update: Uint8Array, origins: ReadonlySet<unknown>) => void;

export interface AwarenessHubOptions {
  /** Where processes share no memory. */
  readonly store: AwarenessStore;
  /** Time between two reads of the store while somebody listens, milliseconds. */
  readonly refreshMs: number;
  readonly log: Log;
}

interface Known extends OwnedState {
  /** When it was sent, milliseconds of `performance.now()`. */
  readonly at: number;
}

/** A write of a client's state. */
interface StateWrite {
  done: Promise<void>;
  isWaiting: boolean;
  /** When it began, milliseconds of `performance.now()`. */
  at: number;
}

interface Listened {
  readonly states: Map<number, Known>;
  readonly listeners: Set<AwarenessListener>;
  readonly changed: Set<number>;
  readonly origins: Set<unknown>;
  /** Writes to the store, by client. */
  readonly writes: Map<number, StateWrite>;
  /** When the store was read, milliseconds of `performance.now()`. */
  loadedAt: number;
  timer: NodeJS.Timeout | undefined;
  /** Forgets states that have expired. */
  expiry: NodeJS.Timeout | undefined;
}

/**
 * Who has a document open, and where their cursors are: passed between all clients, whatever they are connected by. In
 * one process nothing is stored; processes that share no memory exchange states through a store.
 */
export class AwarenessHub {
  readonly #shared: AwarenessHubOptions | undefined;
  readonly #documents = new Map<string, Listened>();
  #count = 0;
  #refresh: NodeJS.Timeout | undefined;

  constructor(shared?: AwarenessHubOptions) {
    this.#shared = shared;
  }

  /**
   * Takes over the states of an update; ignores those that belong to others, or are older than the known ones. Resolves
   * when other processes can read them.
   */
  async publish({ document, update, owner, origin, limits }: AwarenessUpdate): Promise<void> {
    const states = decodeAwareness(update, limits);
    if (states === undefined) return;
    // Whom a client belongs to may be known to other processes.
    if (this.#shared !== undefined && this.#isOutdated(document)) await this.load(document);
    const now = performance.now();
    const of = this.#of(document);
    this.#forget(of, now);
    const by = hashOwner(owner);
    const accepted = states.filter((state) => this.#accept(of, { ...state, owner: by, at: now }, origin));
    this.#deliver(document, of);
    if (this.#shared === undefined) return;
    await Promise.all(accepted.map(({ client }) => this.#write(document, of, client)));
  }

  /** Calls the listener with what has changed, at most every 200 ms. Returns a function that ends this. */
  subscribe(document: string, listener: AwarenessListener): () => void {
    const of = this.#of(document);
    of.listeners.add(listener);
    this.#refreshSoon();
    return () => {
      of.listeners.delete(listener);
      this.#clean(document, of);
    };
  }

  /** Reads the states that other processes have written, so that `current` and `snapshot` include them. */
  async load(document: string): Promise<void> {
    if (this.#shared === undefined) return;
    const stored = await this.#shared.store.read(document);
    const now = performance.now();
    const of = this.#of(document);
    of.loadedAt = now;
    for (const { ageMs, ...state } of stored) this.#accept(of, { ...state, at: now - ageMs }, undefined);
    this.#deliver(document, of);
  }

  #isOutdated(document: string): boolean {
    const loadedAt = this.#documents.get(document)?.loadedAt ?? Number.NEGATIVE_INFINITY;
    return performance.now() - loadedAt > (this.#shared?.refreshMs ?? 0);
  }

  /** The states of all clients; undefined if there are none. */
  current(document: string): Uint8Array | undefined {
    const states = this.#statesOf(document).filter(({ state }) => state !== null);
    return states.length === 0 ? undefined : encodeAwareness(states);
  }

  /**
   * The states of all clients that were not sent by `except`, also of those that have left recently. Undefined if there
   * are none, or if the caller has them: `known` is the tag of a snapshot.
   */
  snapshot(
    document: string,
    { known, except }: { readonly known: string | undefined; readonly except?: string | undefined },
  ): AwarenessSnapshot | undefined {
    const others = except === undefined ? undefined : hashOwner(except);
    const states = this.#statesOf(document).filter(({ owner }) => owner !== others);
    if (states.length === 0) return undefined;
    const clocks = states.map(({ client, clock, state }) => `${client} ${clock} ${state === null}`);
    const tag = hash("sha256", clocks.toSorted().join(), "base64url").slice(0, 16);
    return tag === known ? undefined : { tag, update: encodeAwareness(states) };
  }

  #statesOf(document: string): readonly Known[] {
    const of = this.#documents.get(document);
    if (of === undefined) return [];
    this.#forget(of, performance.now());
    const states = [...of.states.values()];
    this.#clean(document, of);
    return states;
  }

  #of(document: string): Listened {
    let of = this.#documents.get(document);
    if (of === undefined) {
      of = {
        states: new Map(),
        listeners: new Set(),
        changed: new Set(),
        origins: new Set(),
        writes: new Map(),
        loadedAt: Number.NEGATIVE_INFINITY,
        timer: undefined,
        expiry: undefined,
      };
      this.#documents.set(document, of);
    }
    return of;
  }

  /** Returns whether the state is new. */
  #accept(of: Listened, state: Known, origin: unknown): boolean {
    const known = of.states.get(state.client);
    if (known !== undefined && !mayReplace(state, known)) return false;
    const isFull = of.states.size >= STATES_PER_DOCUMENT_MAX || this.#count >= STATES_MAX;
    if (known === undefined && isFull) return false;
    if (known === undefined) this.#count += 1;
    of.states.set(state.client, state);
    of.changed.add(state.client);
    of.origins.add(origin);
    return true;
  }

  #deliver(document: string, of: Listened): void {
    if (of.changed.size === 0) {
      this.#clean(document, of);
      return;
    }
    of.timer ??= setTimeout(() => {
      of.timer = undefined;
      const states = [...of.changed].flatMap((client) => of.states.get(client) ?? []);
      const origins = new Set(of.origins);
      of.changed.clear();
      of.origins.clear();
      this.#forget(of, performance.now());
      if (states.length > 0) {
        const update = encodeAwareness(states);
        for (const listener of [...of.listeners]) listener(update, origins);
        this.#expire(document, of);
      }
      this.#clean(document, of);
    }, BATCH_MS).unref();
  }

  #expire(document: string, of: Listened): void {
    of.expiry ??= setTimeout(() => {
      of.expiry = undefined;
      this.#forget(of, performance.now());
      if (of.states.size > 0) this.#expire(document, of);
      this.#clean(document, of);
    }, AWARENESS_EXPIRY_MS).unref();
  }

  #forget(of: Listened, now: number): void {
    for (const [client, { at }] of of.states) {
      if (now - at < AWARENESS_EXPIRY_MS) continue;
      of.states.delete(client);
      this.#count -= 1;
    }
  }

  #clean(document: string, of: Listened): void {
    if (of.states.size > 0 || of.listeners.size > 0 || of.timer !== undefined) return;
    if (this.#documents.get(document) === of) this.#documents.delete(document);
  }

  /** Writes the latest state of a client, at most once a second. */
  #write(document: string, of: Listened, client: number): Promise<void> {
    const before = of.writes.get(client);
    // It has not begun, so it will write the latest state.
    if (before?.isWaiting === true) return before.done;
    const isStored = [...of.states.keys()].indexOf(client) < STORED_PER_DOCUMENT_MAX;
    if (!isStored) return Promise.resolve();
    const write: StateWrite = { isWaiting: true, at: 0, done: Promise.resolve() };
    const run = async (): Promise<void> => {
      await before?.done.catch(() => {});
      const waitMs = before === undefined ? 0 : before.at + WRITE_MS - performance.now();
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
      write.isWaiting = false;
      write.at = performance.now();
      const forget = (): void => {
        if (of.writes.get(client) === write) of.writes.delete(client);
      };
      setTimeout(forget, WRITE_MS).unref();
      const state = of.states.get(client);
      if (state !== undefined) await this.#shared?.store.write(document, state);
    };
    of.writes.set(client, write);
    write.done = run();
    return write.done;
  }

  #refreshSoon(): void {
    const shared = this.#shared;
    if (shared === undefined || this.#refresh !== undefined) return;
    const run = async (): Promise<void> => {
      const listened = [...this.#documents].filter(([, { listeners }]) => listeners.size > 0);
      try {
        await Promise.all(listened.map(([document]) => this.load(document)));
      } catch (error) {
        shared.log.warn("reading the awareness of other processes failed", { error });
      }
      this.#refresh = undefined;
      if (listened.length > 0) this.#refreshSoon();
    };
    this.#refresh = setTimeout(() => void run(), shared.refreshMs);
    this.#refresh.unref();
  }
}

/** A client belongs to whoever sent its state, until it has left. */
const mayReplace = (state: Known, known: Known): boolean =>
  (known.owner === state.owner || known.state === null) && isNewer(state, known);

/** As y-protocols: a client leaves with the clock of its last state. */
const isNewer = (state: AwarenessState, known: AwarenessState): boolean =>
  state.clock > known.clock || (state.clock === known.clock && state.state === null && known.state !== null);
