import { ApiError } from "../../errors.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Condition, Write } from "../../platform/tables.ts";
import { CONFLICT, retryOnConflict } from "../../retry-on-conflict.ts";
import { documentNotFound } from "../authorization/document-access.ts";
import { commitChange } from "../changes/commit.ts";
import { scheduleUpdatedEvent } from "../events/updated-event.ts";
import { documentKey, documentsTable, type StoredDocument } from "../tables/documents.ts";
import type { RoomLease } from "../tables/room-leases.ts";
import { type StoredUpdates, updatesKey, updatesTable } from "../tables/updates.ts";
import { CONTENT_MAX_BYTES } from "../tables/versions.ts";
import { compactLog } from "./compact.ts";
import { type ConvertDeps, convertPlainContent } from "./convert-plain.ts";
import { IndexRequests } from "./index-requests.ts";
import { checkLease, isSameLease, leaseCheck, leaseLost } from "./lease-check.ts";
import type { Appender, CurrentContent, LogListener } from "./log-access.ts";
import { composeLogItem, ITEM_MAX_BYTES } from "./log-item.ts";
import { contentWithLog, type LogEntry, readDocumentWithLog, readEntries, readSeed } from "./read-log.ts";
import { RecentUpdates, repetitionKey } from "./recent-updates.ts";
import { EMPTY_UPDATE_BYTES, isYjsUpdate } from "./yjs-update.ts";

export type UpdateLogDeps = ConvertDeps &
  Pick<Ports, "log" | "queues"> & {
    /** Resolves when everything written is on disk, if writes resolve earlier. */
    readonly durable?: (() => Promise<void>) | undefined;
  };

/** Maximum size of an update, bytes. */
export const UPDATE_MAX_BYTES = 8 * 1024 * 1024;
/** Updates of one item. */
const BATCH_MAX = 500;
/** Updates that wait for the write in progress. */
const WAITING_MAX = 10_000;
/** The log is compacted when it has more entries or bytes, or more than this share of the content's bytes. */
const ENTRIES_MAX = 2_000;
const LOG_MAX_BYTES = 128 * 1024;
const LOG_MAX_SHARE = 0.25;
/** Time before the pending event at which a new one is scheduled, milliseconds. */
const EVENT_MARGIN_MS = 1_000;
interface Waiting {
  readonly update: Uint8Array;
  /** Equal for equal updates. */
  readonly key: string;
  readonly by: Appender;
  resolve(position: number): void;
  reject(error: unknown): void;
}

/** Opens a log. Throws `not_found`, and what `convertPlainContent` throws. */
export async function openLog(deps: UpdateLogDeps, id: string): Promise<OpenLog> {
  let { document, entries } = await readDocumentWithLog(deps, id);
  if (document.deleted_at !== null) throw documentNotFound();
  if (document.content?.kind === "plain") {
    await convertPlainContent(deps, id);
    ({ document, entries } = await readDocumentWithLog(deps, id));
  }
  const position = entries.at(-1)?.position ?? document.content?.position ?? 0;
  const bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0);
  const size = { entries: entries.length, bytes, content: document.content?.bytes ?? 0 };
  return new OpenLog(deps, document, position, size);
}

/** Estimated sizes: of the log, and of the latest version. */
interface LogSize {
  entries: number;
  bytes: number;
  content: number;
}

/** The state of an open log, which all its handles share. */
export class OpenLog {
  readonly document: string;
  readonly generation: number;
  position: number;
  readonly #deps: UpdateLogDeps;
  #size: LogSize;
  readonly #listeners = new Set<LogListener>();
  #waiting: Waiting[] = [];
  #isWriting = false;
  /** Others have written to the log during a write that had read it before. */
  #mustCatchUp = false;
  #compacting: Promise<void> | undefined;
  #hasEnded = false;
  /** The document's `log_start`, as last read: entries up to it may be deleted. */
  #start: number;
  /** The `pending_update_at` that this log has set, so that the edits are part of an event. */
  #eventAt = 0;
  readonly #recent = new RecentUpdates();
  readonly #indexing = new IndexRequests();

  constructor(deps: UpdateLogDeps, document: StoredDocument, position: number, size: LogSize) {
    this.#deps = deps;
    this.document = document.id;
    this.generation = document.generation ?? 0;
    this.position = position;
    this.#start = document.log_start ?? 0;
    this.#size = size;
  }

  get isFollowed(): boolean {
    return this.#listeners.size > 0;
  }

  async read(): Promise<CurrentContent> {
    const read = await readDocumentWithLog(this.#deps, this.document);
    const { document, entries } = read;
    if ((document.generation ?? 0) !== this.generation) throw replaced();
    const position = entries.at(-1)?.position ?? document.content?.position ?? 0;
    const content = await contentWithLog(this.#deps, read);
    const state = content?.bytes ?? (await readSeed());
    // A position that a crash takes back would be given to another update.
    await this.#deps.durable?.();
    return { generation: this.generation, position, state };
  }

  async readAfter(position: number): Promise<readonly LogEntry[] | undefined> {
    const { document, entries } = await readDocumentWithLog(this.#deps, this.document);
    if ((document.generation ?? 0) !== this.generation) throw replaced();
    const first = document.content?.position ?? 0;
    const last = entries.at(-1)?.position ?? first;
    if (position < first || position > last) return undefined;
    await this.#deps.durable?.();
    return entries.filter((entry) => entry.position > position);
  }

  append(update: Uint8Array, by: Appender): Promise<number> {
    if (update.length > UPDATE_MAX_BYTES)
      return Promise.reject(new ApiError("payload_too_large", "update: must have at most 8 MiB."));
    if (!isYjsUpdate(update))
      return Promise.reject(new ApiError("bad_request", "update: must be a Yjs update."));
    if (this.#hasEnded) return Promise.reject(replaced());
    if (update.length <= EMPTY_UPDATE_BYTES) return Promise.resolve(this.position);
    const key = repetitionKey(update);
    const known = this.#recent.positionOf(key);
    if (known !== undefined) return Promise.resolve(known);
    if (this.#waiting.length >= WAITING_MAX)
      return Promise.reject(
        new ApiError("too_many_requests", "Too many updates wait to be saved; try again."),
      );
    return new Promise((resolve, reject) => {
      this.#waiting.push({ update, key, by, resolve, reject });
      if (!this.#isWriting) void this.#writeAll();
    });
  }

  subscribe(listener: LogListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  end(): void {
    this.#hasEnded = true;
    for (const listener of [...this.#listeners]) listener.onEnd();
    this.#listeners.clear();
  }

  /** Reads new entries of other processes. Returns false if the generation was replaced or the document deleted. */
  async refresh(): Promise<boolean> {
    if (this.#hasEnded) return false;
    const document = await this.#deps.tables.get(documentsTable, documentKey(this.document));
    if (document === undefined || document.deleted_at !== null) return false;
    if ((document.generation ?? 0) !== this.generation) return false;
    // A write in progress may have committed before the others did, and then reads nothing more.
    if (this.#isWriting) this.#mustCatchUp = true;
    else await this.#catchUp(document);
    return true;
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    // The updates of one request are appended in the same turn, and written together.
    await undefined;
    while (this.#waiting.length > 0) {
      const batch = this.#nextBatch();
      try {
        const entry = await this.#write(batch);
        for (const { key } of batch) this.#recent.add(key, entry.position);
        for (const { resolve } of batch) resolve(entry.position);
      } catch (error) {
        for (const { reject } of batch) reject(error);
        if (error instanceof ApiError && error.code === "precondition_failed") this.end();
      }
      await this.#catchUpAfterWrite();
    }
    this.#isWriting = false;
  }

  async #catchUpAfterWrite(): Promise<void> {
    if (!this.#mustCatchUp) return;
    this.#mustCatchUp = false;
    try {
      await this.#catchUp();
    } catch (error) {
      this.#deps.log.warn("reading what others have written to a document failed", {
        document: this.document,
        error,
      });
    }
  }

  /** The updates of the next item: several small ones, or one of any size. They have the same lease. */
  #nextBatch(): Waiting[] {
    const lease = this.#waiting[0]?.by.lease;
    let bytes = 0;
    let count = 0;
    for (const { update, by } of this.#waiting) {
      if (count > 0 && (count >= BATCH_MAX || bytes + update.length > ITEM_MAX_BYTES)) break;
      if (!isSameLease(by.lease, lease)) break;
      bytes += update.length;
      count += 1;
    }
    return this.#waiting.splice(0, count);
  }

  async #write(batch: readonly Waiting[]): Promise<LogEntry> {
    const deps = this.#deps;
    const updates = batch.map(({ update }) => update);
    const bytes = updates.reduce((sum, update) => sum + update.length, 0);
    await this.#checkSize(bytes);
    const authors = [...new Set(batch.map(({ by }) => by.author))];
    const at = new Date(deps.clock.now()).toISOString();
    const item = await composeLogItem(deps, this.document, updates, { authors, at });
    const hop = Math.max(...batch.map(({ by }) => by.hop ?? 0));
    const position = await this.#commit(item, hop, batch[0]?.by.lease);
    this.#indexing.request(deps, this.document, this.#size.content + this.#size.bytes);
    await deps.durable?.();
    const entry: LogEntry = { position, updates, bytes, authors, at };
    this.#receive(
      entry,
      batch.map(({ by }) => by.origin),
    );
    return entry;
  }

  /** Writes an item at the next position: alone while an event is pending, else together with a new pending event. */
  #commit(
    item: Omit<StoredUpdates, "pk" | "sk">,
    hop: number,
    lease: RoomLease | undefined,
  ): Promise<number> {
    return retryOnConflict(
      async () => {
        const isEventPending = hop === 0 && this.#eventAt > this.#deps.clock.now() + EVENT_MARGIN_MS;
        if (!isEventPending) return this.#commitWithEvent(item, hop, lease);
        const position = this.position + 1;
        const outcome = await this.#deps.tables.write([
          {
            op: "check",
            table: documentsTable,
            key: documentKey(this.document),
            when: [...this.#isCurrent(), ["pending_update_at", "=", this.#eventAt]],
          },
          this.#put(item, position),
          ...leaseCheck(this.document, lease),
        ]);
        if (outcome.ok) return position;
        if (outcome.failed.includes(2)) throw leaseLost();
        // The document is read again, together with the pending event.
        if (outcome.failed.includes(0)) this.#eventAt = 0;
        else await this.#catchUp();
        return CONFLICT;
      },
      { exceeded: () => new ApiError("conflict", "The document is being changed concurrently; try again") },
    );
  }

  async #commitWithEvent(
    item: Omit<StoredUpdates, "pk" | "sk">,
    hop: number,
    lease: RoomLease | undefined,
  ): Promise<number> {
    const deps = this.#deps;
    const author = item.authors.at(-1) ?? null;
    return commitChange(deps, async (attempt) => {
      if (attempt > 0) await checkLease(deps, this.document, lease);
      const document = await deps.tables.get(documentsTable, documentKey(this.document));
      if (document === undefined || document.deleted_at !== null) throw documentNotFound();
      if ((document.generation ?? 0) !== this.generation) throw replaced();
      if (attempt > 0 || (document.log_start ?? 0) !== this.#start) await this.#catchUp(document);
      const viewer = author === null ? undefined : { id: author };
      const pending = await scheduleUpdatedEvent(deps, document, viewer, ["content"], hop);
      const position = this.position + 1;
      this.#eventAt = document.pending_update_at ?? Number(pending.change.setIfMissing.pending_update_at);
      const set = { ...pending.change.set, updated_at: item.at, has_log: true };
      return {
        writes: [
          {
            op: "update",
            table: documentsTable,
            key: documentKey(this.document),
            change: { ...pending.change, set, add: { revision: 1 } },
            when: [["revision", "=", document.revision], ...this.#isCurrent(), ...pending.when],
          },
          this.#put(item, position),
          ...leaseCheck(this.document, lease),
        ],
        events: [],
        result: position,
      };
    });
  }

  #put(item: Omit<StoredUpdates, "pk" | "sk">, position: number): Write {
    const key = updatesKey(this.document, this.generation, position);
    return { op: "put", table: updatesTable, item: { ...key, ...item }, when: [["pk", "missing"]] };
  }

  #isCurrent(): Condition[] {
    return [
      ["deleted_at", "=", null],
      this.generation === 0 ? ["generation", "missing"] : ["generation", "=", this.generation],
      // A position whose entry was deleted must not be used again.
      this.#start === 0 ? ["log_start", "missing"] : ["log_start", "=", this.#start],
    ];
  }

  /** Reads the entries that others have appended, and passes them on. */
  async #catchUp(known?: StoredDocument): Promise<void> {
    const deps = this.#deps;
    const document = known ?? (await deps.tables.get(documentsTable, documentKey(this.document)));
    if (document === undefined || (document.generation ?? 0) !== this.generation) return;
    this.#start = document.log_start ?? 0;
    const found = await readEntries(deps, this.document, this.generation, this.position);
    // It may contain what this process writes at the same time, which is not passed on before it is on disk.
    if (found.length > 0) await deps.durable?.();
    const isWhole = found.every(({ position }, at) => position === this.position + 1 + at);
    if (isWhole && this.position + found.length >= this.#start) {
      for (const entry of found) this.#receive(entry, []);
    } else await this.#reload();
  }

  /** Passes on the whole content as one entry, because others have compacted entries that were not read here. */
  async #reload(): Promise<void> {
    const read = await readDocumentWithLog(this.#deps, this.document);
    const { document, entries } = read;
    const content = await contentWithLog(this.#deps, read);
    const position = entries.at(-1)?.position ?? document.content?.position ?? 0;
    if ((document.generation ?? 0) !== this.generation || content === undefined || position <= this.position)
      return;
    const bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0);
    this.#size = { entries: entries.length, bytes, content: document.content?.bytes ?? 0 };
    this.position = position;
    this.#start = document.log_start ?? 0;
    const whole = { bytes: content.bytes.length, authors: [], at: entries.at(-1)?.at ?? document.updated_at };
    for (const listener of [...this.#listeners])
      listener.onEntry({ position, updates: [content.bytes], ...whole }, []);
  }

  #receive(entry: LogEntry, origins: readonly unknown[]): void {
    if (entry.position <= this.position) return;
    this.position = entry.position;
    this.#size.entries += 1;
    this.#size.bytes += entry.bytes;
    for (const listener of [...this.#listeners]) listener.onEntry(entry, origins);
    const { entries, bytes, content } = this.#size;
    if (entries > ENTRIES_MAX || bytes > Math.max(LOG_MAX_BYTES, content * LOG_MAX_SHARE))
      void this.#compact();
  }

  /** Throws `payload_too_large` if the document has no room for more bytes. */
  async #checkSize(bytes: number): Promise<void> {
    const isTooLarge = (): boolean => this.#size.content + this.#size.bytes + bytes > CONTENT_MAX_BYTES;
    // The log of a document may be much larger than its content. A compaction in progress may include less than this one.
    if (isTooLarge()) await this.#compacting;
    if (isTooLarge() && this.#size.entries > 0) await this.#compact();
    if (isTooLarge()) throw new ApiError("payload_too_large", "The document is larger than 20 MiB.");
  }

  #compact(): Promise<void> {
    this.#compacting ??= this.#compactOnce().finally(() => {
      this.#compacting = undefined;
    });
    return this.#compacting;
  }

  async #compactOnce(): Promise<void> {
    const size = this.#size;
    const before = { ...size };
    try {
      const compacted = await compactLog(this.#deps, this.document);
      // Has no effect if `#reload` has read the sizes meanwhile.
      size.entries -= before.entries;
      size.bytes -= before.bytes;
      size.content = compacted.bytes;
    } catch (error) {
      this.#deps.log.warn("compacting the update log of a document failed", {
        document: this.document,
        error,
      });
    }
  }
}

const replaced = (): ApiError =>
  new ApiError("precondition_failed", "The content of the document has been replaced; open it again.");
