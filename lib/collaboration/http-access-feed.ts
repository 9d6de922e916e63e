import type * as z from "zod";
import { ChangeFeed, type ChangeSource } from "../documents/changes/change-feed.ts";
import type { BackendStatus } from "../documents/connections/live-connections.ts";
import {
  type AccessChanges,
  type AccessFeed,
  CHANGE_LAG_MS,
  toAccessChanges,
} from "../documents/live-requests/access-feed.ts";
import { SHARDS } from "../documents/tables/changes.ts";
import { type BackendRequest, BackendUnavailableError, type RequestBackend } from "./backend.ts";
import { accessStatesRecord, changesRecord } from "./changes.ts";

export interface HttpAccessFeedOptions {
  readonly request: RequestBackend;
  /** Identifies this server to the document service. */
  readonly key: string;
}

/** Time that a request waits for changes, seconds. */
const WAIT_SECONDS = 20;
/** Documents of one request. */
const DOCUMENTS_MAX = 100;

const NOTHING: AccessChanges = { isReset: false, documents: [], relations: [], users: [] };

class KeyRefusedError extends BackendUnavailableError {}

/** The changes of a document service that another process is: one request at a time waits for them, for all rooms. */
export class HttpAccessFeed implements AccessFeed {
  readonly lagMs = CHANGE_LAG_MS;
  readonly #options: HttpAccessFeedOptions;
  readonly #feed = new ChangeFeed();
  readonly #closed = new AbortController();
  /** What the requests have found since the last read. */
  #found = NOTHING;
  #failure: unknown;
  #request: Promise<void> | undefined;
  /** Time of the service at its last response, milliseconds since the epoch. */
  #now = Date.now();
  #expired: string[] = [];

  constructor(options: HttpAccessFeedOptions) {
    this.#options = options;
  }

  /** Returns what has been found. Waits only for the first response; throws if the last request has failed. */
  async read(): Promise<AccessChanges> {
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) throw failure;
    const found = this.#found;
    this.#found = NOTHING;
    this.#request ??= this.#follow();
    return found;
  }

  async linesOf(documents: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
    const lines = new Map<string, readonly string[]>();
    for (let at = 0; at < documents.length; at += DOCUMENTS_MAX) {
      const body = { documents: documents.slice(at, at + DOCUMENTS_MAX) };
      const found = await this.#send(accessStatesRecord, "POST", "access-states/", { body });
      for (const { id, line } of found.documents) lines.set(id, line);
    }
    return lines;
  }

  /** Whether the document service responds, and accepts the key. */
  async check(): Promise<BackendStatus> {
    try {
      await this.#read({});
      return "ok";
    } catch (error) {
      return error instanceof KeyRefusedError ? "refused" : "unreachable";
    }
  }

  close(): void {
    this.#closed.abort();
  }

  async #follow(): Promise<void> {
    try {
      const batch = await this.#feed.read(this.#source);
      const changes = toAccessChanges(batch, this.#expired.splice(0));
      this.#found = {
        isReset: this.#found.isReset || changes.isReset,
        documents: [...this.#found.documents, ...changes.documents],
        relations: [...this.#found.relations, ...changes.relations],
        users: [...this.#found.users, ...changes.users],
      };
    } catch (error) {
      this.#failure = error;
    } finally {
      this.#request = undefined;
    }
  }

  readonly #source: ChangeSource = {
    now: () => this.#now,
    readCounts: async (known) => {
      const isWaiting = known !== undefined;
      const query = isWaiting
        ? { counts: SHARDS.map((name) => known.get(name) ?? 0).join(), wait: `${WAIT_SECONDS}` }
        : {};
      const {
        now,
        counts = [],
        users = [],
      } = await this.#read({ ...query, since: `${this.#now}` }, isWaiting ? WAIT_SECONDS * 1000 : 0);
      this.#now = now;
      this.#expired.push(...users);
      return new Map(SHARDS.map((name, at) => [name, counts[at] ?? 0]));
    },
    rowsSince: async (shard, sinceMs) => {
      const { rows = [] } = await this.#read({ shard, since: `${Math.max(0, Math.floor(sinceMs))}` });
      return rows.map(({ id, documents, access = documents, ...row }) => ({
        pk: shard,
        sk: id,
        documents,
        access,
        ...row,
      }));
    },
  };

  #read(query: Record<string, string>, waitMs = 0): Promise<z.infer<typeof changesRecord>> {
    const signal = this.#closed.signal;
    return this.#send(changesRecord, "GET", `changes/?${new URLSearchParams(query)}`, { waitMs, signal });
  }

  async #send<Schema extends z.ZodType>(
    schema: Schema,
    method: "GET" | "POST",
    path: string,
    more: Pick<BackendRequest, "body" | "waitMs" | "signal">,
  ): Promise<z.infer<Schema>> {
    const headers = { authorization: `Bearer ${this.#options.key}`, "content-type": "application/json" };
    const sent = { method, path: `/api/v1.0/collaboration/${path}`, headers, address: "", ...more };
    const { status, body } = await this.#options.request(sent);
    const parsed = schema.safeParse(body);
    if (status === 200 && parsed.success) return parsed.data;
    if (status === 401 || status === 403) throw new KeyRefusedError("The document service refuses the key");
    throw new BackendUnavailableError(
      `The document service responds with ${status} to ${path.split("?")[0]}`,
    );
  }
}
