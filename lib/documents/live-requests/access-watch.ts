import { setImmediate as nextTurn } from "node:timers/promises";
import type { Log } from "../../platform/log.ts";
import type { AccessFeed } from "./access-feed.ts";
import { type Authorized, RecentChanges, usersOn } from "./recent-changes.ts";

/** An open connection, or a request in progress, whose access is watched. */
export interface Watched extends Authorized {
  readonly document: string;
  /** Reads the access again, and applies it. If it rejects, it is called again. */
  check(): Promise<void>;
}

export interface AccessWatchOptions {
  readonly feed: AccessFeed;
  readonly limits: {
    /** Time between two reads of the feed, milliseconds. */
    readonly changesMs: number;
    /** Time after which access is checked although nothing has changed, milliseconds. */
    readonly recheckMs: number;
  };
  readonly log: Log;
}

/** How many times longer the pause after a run is that failed. */
const FAILED_DELAY_FACTOR = 8;
/** Checks at the same time. */
const CHECKS_MAX = 16;

/** The connections of a document. */
class WatchedDocument {
  readonly connections = new Set<Watched>();
  /** Connections that were there at the last read. */
  readonly seen = new WeakSet<Watched>();
  /** Ids of the document and its ancestors; undefined until they are read. */
  line: readonly string[] | undefined;
  /** The access of each connection was read after this time, milliseconds of `performance.now()`. */
  checkedAt = Number.POSITIVE_INFINITY;
}

/**
 * Checks the access of connections again when it may have changed, by any process, and from time to time. Whoever
 * watches a connection decides; this only says when. It reads nothing while nothing is watched.
 */
export class AccessWatch {
  readonly #options: AccessWatchOptions;
  readonly #documents = new Map<string, WatchedDocument>();
  #timer: NodeJS.Timeout | undefined;
  readonly #recent = new RecentChanges();
  #hasFailed = false;
  #isClosed = false;

  constructor(options: AccessWatchOptions) {
    this.#options = options;
  }

  /** Watches a connection. Returns a function that ends this. */
  watch(connection: Watched): () => void {
    const { document } = connection;
    const of = this.#documents.get(document) ?? new WatchedDocument();
    this.#documents.set(document, of);
    of.connections.add(connection);
    of.checkedAt = Math.min(of.checkedAt, connection.authorizedAt);
    this.#start();
    return () => {
      of.connections.delete(connection);
      if (of.connections.size === 0 && this.#documents.get(document) === of) this.#documents.delete(document);
    };
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #start(): void {
    if (this.#timer !== undefined || this.#isClosed) return;
    const { changesMs } = this.#options.limits;
    const delayMs = this.#hasFailed ? changesMs * FAILED_DELAY_FACTOR : changesMs;
    this.#timer = setTimeout(() => void this.#run(), delayMs);
    this.#timer.unref();
  }

  async #run(): Promise<void> {
    this.#hasFailed = false;
    try {
      await this.#checkAll(await this.#readAffected());
    } catch (error) {
      this.#recent.forget();
      this.#fail(error);
    }
    this.#timer = undefined;
    if (this.#documents.size > 0) this.#start();
    else this.#recent.forget();
  }

  #fail(error: unknown): void {
    if (!this.#hasFailed)
      this.#options.log.warn("the access of open connections could not be checked", { error });
    this.#hasFailed = true;
  }

  /** The connections that the changes since the last read, or since their authorization, may concern. */
  async #readAffected(): Promise<Watched[]> {
    const { feed, limits } = this.#options;
    const changes = await feed.read();
    const now = performance.now();
    const isComplete = this.#recent.note(changes, now);
    const changed = new Set(changes.documents);
    const documents = [...this.#documents];
    const affected = new Set(
      documents.flatMap(([, of]) => {
        const isDue = !isComplete || now - of.checkedAt > limits.recheckMs;
        return isDue || of.line?.some((id) => changed.has(id)) === true ? [of] : [];
      }),
    );
    const unknown = documents.flatMap(([id, of]) => (affected.has(of) || of.line === undefined ? [id] : []));
    const lines = unknown.length === 0 ? new Map<string, readonly string[]>() : await feed.linesOf(unknown);
    return documents.flatMap(([id, of]) => {
      const line = lines.get(id) ?? of.line ?? [id];
      of.line = line;
      if (affected.has(of)) of.checkedAt = now;
      const users = usersOn(line, changes);
      return [...of.connections].filter((connection) => {
        const isNew = !of.seen.has(connection);
        of.seen.add(connection);
        if (affected.has(of) || users.has(connection.user ?? "")) return true;
        return isNew && this.#recent.mayConcern(connection, line, feed.lagMs);
      });
    });
  }

  async #checkAll(affected: Watched[]): Promise<void> {
    let turn = Promise.resolve();
    const work = async (): Promise<void> => {
      for (let next = affected.pop(); next !== undefined; next = affected.pop()) {
        // One begins per turn of the event loop: in the same process, a check blocks it for most of its time.
        turn = turn.then(() => nextTurn());
        await turn;
        await this.#check(next);
      }
    };
    await Promise.all(Array.from({ length: Math.min(CHECKS_MAX, affected.length) }, work));
  }

  async #check(connection: Watched): Promise<void> {
    const of = this.#documents.get(connection.document);
    if (of?.connections.has(connection) !== true) return;
    try {
      await connection.check();
    } catch (error) {
      // Nothing is known: all connections of the document are checked again.
      of.checkedAt = Number.NEGATIVE_INFINITY;
      this.#fail(error);
    }
  }
}
