import { setImmediate as nextTurn } from "node:timers/promises";
import type { Log } from "../../platform/log.ts";
import type { AccessChanges, AccessFeed, AccessState } from "./access-feed.ts";

/** An open connection, or a request in progress, whose access is watched. */
export interface Watched {
  readonly document: string;
  /** Id of the user; undefined if anonymous. */
  readonly user: string | undefined;
  /** A time before the access was read, milliseconds of `performance.now()`. */
  readonly authorizedAt: number;
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
  /** Connections that need no check because they are new. */
  readonly seen = new WeakSet<Watched>();
  /** Undefined if it is not known, so that all must be checked. */
  state: AccessState | undefined;
  /** When all connections were checked, and when access last changed, milliseconds of `performance.now()`. */
  checkedAt = Number.NEGATIVE_INFINITY;
  changedAt = Number.NEGATIVE_INFINITY;
}

/**
 * Checks the access of connections again when it may have changed, by any process, and from time to time. Whoever
 * watches a connection decides; this only says when. It reads nothing while nothing is watched.
 */
export class AccessWatch {
  readonly #options: AccessWatchOptions;
  readonly #documents = new Map<string, WatchedDocument>();
  #timer: NodeJS.Timeout | undefined;
  /** Whether the last read has succeeded: else changes may have been missed. */
  #isCurrent = false;
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
      const affected = await this.#readAffected();
      this.#isCurrent = true;
      await this.#checkAll(affected);
    } catch (error) {
      this.#isCurrent = false;
      this.#fail(error);
    }
    this.#timer = undefined;
    if (this.#documents.size > 0) this.#start();
    else this.#isCurrent = false;
  }

  #fail(error: unknown): void {
    if (!this.#hasFailed)
      this.#options.log.warn("the access of open connections could not be checked", { error });
    this.#hasFailed = true;
  }

  /** The connections that the changes since the last read may concern. */
  async #readAffected(): Promise<Watched[]> {
    const { feed, limits } = this.#options;
    const changes = await feed.read();
    const isReset = changes.isReset || !this.#isCurrent;
    const changed = new Set(changes.documents);
    const now = performance.now();
    const isDue = (of: WatchedDocument): boolean =>
      isReset || of.state === undefined || now - of.checkedAt > limits.recheckMs;
    const isTouched = (of: WatchedDocument): boolean =>
      isDue(of) || of.state?.line.some((id) => changed.has(id)) === true;
    const documents = [...this.#documents];
    const touched = documents.flatMap(([id, of]) => (isTouched(of) ? [id] : []));
    const states = touched.length === 0 ? new Map<string, AccessState>() : await feed.statesOf(touched);
    return documents.flatMap(([id, of]) => {
      const before = isTouched(of) ? undefined : of.state;
      const state = before ?? states.get(id) ?? { line: [id], fingerprint: "" };
      const isChanged = isDue(of) || state.fingerprint !== of.state?.fingerprint;
      const users = usersOn(state.line, changes);
      of.state = state;
      if (isChanged) of.checkedAt = now;
      if (isChanged || users.size > 0) of.changedAt = now;
      return [...of.connections].filter((connection) => {
        const isNew = !of.seen.has(connection);
        of.seen.add(connection);
        // Access may have changed before the connection was watched.
        const isLate = isNew && connection.authorizedAt <= of.changedAt;
        return isChanged || isLate || users.has(connection.user ?? "");
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
      of.state = undefined;
      this.#fail(error);
    }
  }
}

/** Users whose access to a document of this line may have changed. */
function usersOn(line: readonly string[], { relations, users }: AccessChanges): ReadonlySet<string> {
  const documents = new Set(line);
  const related = relations.filter(([, document]) => documents.has(document)).map(([user]) => user);
  return new Set([...users, ...related]);
}
