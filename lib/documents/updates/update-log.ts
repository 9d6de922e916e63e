import type { Appender, CurrentContent, LogListener } from "./log-access.ts";
import { type OpenLog, openLog, type UpdateLogDeps } from "./open-log.ts";
import type { LogEntry } from "./read-log.ts";

export type { Appender, CurrentContent, LogListener } from "./log-access.ts";
export type { UpdateLogDeps } from "./open-log.ts";
export type { LogEntry } from "./read-log.ts";

export interface UpdateLogsOptions {
  /**
   * Time between two reads of what other processes append, while somebody listens, milliseconds. Undefined if this
   * process is the only one.
   */
  readonly refreshMs?: number | undefined;
}

/** A handle of an open log. */
export interface DocumentLog {
  readonly document: string;
  readonly generation: number;
  /** Position of the last known entry. */
  readonly position: number;
  /** Reads the content with its log. Throws `precondition_failed` if the generation was replaced. */
  read(): Promise<CurrentContent>;
  /**
   * Reads the entries after a position. Undefined if the log does not have all of them any more, or has not reached the
   * position. Throws as `read`.
   */
  readAfter(position: number): Promise<readonly LogEntry[] | undefined>;
  /**
   * Appends an update, unless it is one of the last that were appended. When the promise resolves, the update is on disk. Returns its position. Throws `bad_request` if
   * the bytes are not a Yjs update, `payload_too_large`, `not_found` if the document is deleted, `precondition_failed`
   * if the generation was replaced, `too_many_requests` if too many updates wait.
   */
  append(update: Uint8Array, by: Appender): Promise<number>;
  subscribe(listener: LogListener): () => void;
  close(): void;
}

/** Time for which a log that nobody uses stays open, so that the next request need not read it, milliseconds. */
const UNUSED_MS = 10_000;
/** Logs that nobody uses; more are closed at once. */
const UNUSED_MAX = 1_000;

/** A log that is open or being opened. */
interface SharedLog {
  readonly log: Promise<OpenLog>;
  handles: number;
}

/** The update logs that this process has open. There is one per process, so that its writers share positions. */
export class UpdateLogs {
  readonly #deps: UpdateLogDeps;
  readonly #refreshMs: number | undefined;
  readonly #open = new Map<string, SharedLog>();
  /** When the last handle of a log was closed, milliseconds of `performance.now()`, the earliest first. */
  readonly #unused = new Map<string, number>();
  #unusedTimer: NodeJS.Timeout | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Somebody has begun to listen since the last refresh. */
  #isRefreshWanted = false;

  constructor(deps: UpdateLogDeps, { refreshMs }: UpdateLogsOptions = {}) {
    this.#deps = deps;
    this.#refreshMs = refreshMs;
  }

  /**
   * Opens a document's log; the handle must be closed. Plain text is converted to editor content before. Throws
   * `not_found`, and what `convertPlainContent` throws.
   */
  async open(document: string): Promise<DocumentLog> {
    const of = this.#share(document);
    of.handles += 1;
    let isOpen = true;
    const close = (): void => {
      if (!isOpen) return;
      isOpen = false;
      of.handles -= 1;
      if (of.handles === 0 && this.#open.get(document) === of) this.#closeLater(document);
    };
    try {
      const log = await of.log;
      return {
        document,
        generation: log.generation,
        get position() {
          return log.position;
        },
        read: () => log.read(),
        readAfter: (position) => log.readAfter(position),
        append: (update, by) => log.append(update, by),
        subscribe: (listener) => {
          this.#refreshSoon();
          return log.subscribe(listener);
        },
        close,
      };
    } catch (error) {
      close();
      throw error;
    }
  }

  #share(document: string): SharedLog {
    const known = this.#open.get(document);
    const isUnused = this.#unused.delete(document);
    if (known !== undefined && !isUnused) return known;
    // Other processes may have appended to an unused log, or replaced the content.
    const opened = async (): Promise<OpenLog> => {
      const log = await known?.log.catch(() => undefined);
      return log !== undefined && (await log.refresh()) ? log : openLog(this.#deps, document);
    };
    const shared = { log: opened(), handles: 0 };
    this.#open.set(document, shared);
    return shared;
  }

  #closeLater(document: string): void {
    this.#unused.set(document, performance.now());
    if (this.#unused.size > UNUSED_MAX) this.#closeUnused(1);
    this.#unusedTimer ??= setTimeout(() => this.#closeOld(), UNUSED_MS).unref();
  }

  #closeOld(): void {
    const since = performance.now() - UNUSED_MS;
    this.#closeUnused([...this.#unused.values()].filter((at) => at <= since).length);
    this.#unusedTimer =
      this.#unused.size > 0 ? setTimeout(() => this.#closeOld(), UNUSED_MS).unref() : undefined;
  }

  #closeUnused(count: number): void {
    for (const document of [...this.#unused.keys()].slice(0, count)) {
      this.#unused.delete(document);
      this.#open.delete(document);
    }
  }

  /** Opens a log for one use. */
  async use<Result>(document: string, use: (log: DocumentLog) => Promise<Result>): Promise<Result> {
    const log = await this.open(document);
    try {
      return await use(log);
    } finally {
      log.close();
    }
  }

  /** Whether somebody in this process listens to a document's log. */
  async isFollowed(document: string): Promise<boolean> {
    const log = await this.#open.get(document)?.log.catch(() => undefined);
    return log?.isFollowed === true;
  }

  /** Passes on to this process's listeners what was written to a document's log by other means, once it is on disk. */
  async announce(document: string): Promise<void> {
    await this.#deps.durable?.();
    const open = await this.#open.get(document)?.log.catch(() => undefined);
    if (open !== undefined && !(await open.refresh())) await this.end(document);
  }

  /** Ends the log of a document whose content was replaced: it is opened again with the new generation. */
  async end(document: string): Promise<void> {
    const shared = this.#open.get(document);
    if (shared === undefined) return;
    this.#open.delete(document);
    this.#unused.delete(document);
    (await shared.log.catch(() => undefined))?.end();
  }

  /** Reads what other processes have appended to the logs that somebody listens to. */
  async refresh(): Promise<void> {
    await this.#refreshFollowed();
  }

  /** Returns whether somebody listens to a log. */
  async #refreshFollowed(): Promise<boolean> {
    let isFollowed = false;
    for (const [document, { log }] of [...this.#open]) {
      const open = await log.catch(() => undefined);
      if (open?.isFollowed !== true) continue;
      isFollowed = true;
      const isCurrent = await open.refresh();
      if (!isCurrent) await this.end(document);
    }
    return isFollowed;
  }

  #refreshSoon(): void {
    this.#isRefreshWanted = true;
    if (this.#refreshMs === undefined || this.#timer !== undefined) return;
    const run = async (): Promise<void> => {
      let isFollowed = true;
      this.#isRefreshWanted = false;
      try {
        isFollowed = await this.#refreshFollowed();
      } catch (error) {
        this.#deps.log.warn("reading the updates of other processes failed", { error });
      }
      this.#timer = undefined;
      if (isFollowed || this.#isRefreshWanted) this.#refreshSoon();
    };
    this.#timer = setTimeout(() => void run(), this.#refreshMs);
    this.#timer.unref();
  }
}
