import { randomUUID } from "node:crypto";
import type { RoomLease } from "../documents/tables/room-leases.ts";
import { ApiError } from "../errors.ts";
import type { Log } from "../platform/log.ts";
import type { BackendResponse, RequestBackend } from "./backend.ts";

export interface CollaborationNodeOptions {
  readonly request: RequestBackend;
  /** Identifies the collaboration server to the document service. */
  readonly key: string;
  /** Where other nodes reach this one, `host:port`. */
  readonly address: string;
  readonly log: Log;
  /** Time for the response to a request, milliseconds; by default half of the time that a lease lasts. */
  readonly requestMs?: number;
}

/** Another process of the collaboration server. */
export interface OtherNode {
  readonly node: string;
  readonly address: string;
}

/** A room that this process owns, until `release`. */
export interface HeldRoom {
  readonly lease: RoomLease;
  readonly isLost: boolean;
  /** Calls back once when another process may have the room; at once if that is so. */
  onLost(listener: () => void): void;
  /** The document service has refused the lease. */
  lose(): void;
  release(): void;
}

interface OwnedRoom {
  readonly lease: Promise<RoomLease>;
  readonly listeners: Set<() => void>;
  holders: number;
  isLost: boolean;
}

/** Time between two renewals, a third of the time that a lease lasts, milliseconds. */
const RENEW_MS = 3_000;
const REQUEST_MS = 5_000;
/** How long it is remembered who owns a room: clients that wait for the owner ask again and again, milliseconds. */
const REMEMBERED_MS = 1_000;
/** Documents that a renewal reports as closed. */
const CLOSED_MAX = 100;

/**
 * This process as one of several of a separate collaboration server: the lease that it renews for all its rooms
 * together, and the rooms that it owns. Each append carries the lease, so a room that others have taken is noticed
 * even if this process was paused. Choice: infra/decisions/0116.
 */
export class CollaborationNode {
  readonly #options: CollaborationNodeOptions;
  readonly #rooms = new Map<string, OwnedRoom>();
  readonly #searches = new Map<string, Promise<OtherNode | undefined>>();
  #id: string = randomUUID();
  #isRegistered = false;
  #isClosed = false;
  #renewing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Receives the ids of all nodes after each renewal. */
  onNodes: ((nodes: ReadonlySet<string>) => void) | undefined;

  constructor(options: CollaborationNodeOptions) {
    this.#options = options;
  }

  /** Begins to renew the lease. */
  start(): void {
    this.#timer = setInterval(() => void this.#renewOrWarn(), RENEW_MS);
    this.#timer.unref();
    void this.#renewOrWarn();
  }

  /** Takes or renews the lease. Throws `unavailable`. */
  renew(): Promise<void> {
    this.#renewing ??= this.#renew().finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  owns(document: string): boolean {
    return this.#rooms.has(document.toLowerCase());
  }

  /** The other process that has a room; undefined if none has it, or this one. Throws `unavailable`. */
  find(room: string): Promise<OtherNode | undefined> {
    const document = room.toLowerCase();
    let search = this.#searches.get(document);
    if (search === undefined) {
      search = this.#find(document);
      this.#searches.set(document, search);
      const forget = (): unknown => this.#searches.delete(document);
      search.then(
        (owner) => (owner === undefined ? forget() : setTimeout(forget, REMEMBERED_MS).unref()),
        forget,
      );
    }
    return search;
  }

  /** Takes a room, unless this process has it already. Throws `unavailable` if another process has it. */
  async take(name: string): Promise<HeldRoom> {
    const document = name.toLowerCase();
    // A room that is being given back is taken afterwards.
    await this.#renewing?.catch(() => {});
    if (this.#isClosed) throw roomMoved();
    const room = this.#rooms.get(document) ?? this.#takeNew(document);
    room.holders += 1;
    try {
      return this.#hold(document, room, await room.lease);
    } catch (error) {
      if (this.#rooms.get(document) === room) this.#rooms.delete(document);
      throw error;
    }
  }

  /** Gives all rooms back, so that other processes can take them at once. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#isClosed = true;
    await this.#renewing?.catch(() => {});
    if (!this.#isRegistered) return;
    this.#isRegistered = false;
    const closed = [...this.#rooms.keys()].slice(0, CLOSED_MAX);
    await this.#keep("stopping", closed).catch((error: unknown) => this.#warn(error));
  }

  #hold(document: string, room: OwnedRoom, lease: RoomLease): HeldRoom {
    let isHeld = true;
    const own: (() => void)[] = [];
    return {
      lease,
      get isLost() {
        return room.isLost;
      },
      onLost: (listener) => {
        if (room.isLost) listener();
        else if (isHeld) {
          own.push(listener);
          room.listeners.add(listener);
        }
      },
      lose: () => this.#lose(document, room),
      release: () => {
        if (isHeld) room.holders -= 1;
        isHeld = false;
        for (const listener of own) room.listeners.delete(listener);
      },
    };
  }

  #lose(document: string, room: OwnedRoom): void {
    if (room.isLost) return;
    room.isLost = true;
    if (this.#rooms.get(document) === room) this.#rooms.delete(document);
    this.#options.log.warn("a room has moved to another process", { document });
    for (const listener of room.listeners) listener();
  }

  #takeNew(document: string): OwnedRoom {
    const room = {
      lease: this.#requestRoom(document),
      listeners: new Set<() => void>(),
      holders: 0,
      isLost: false,
    };
    this.#rooms.set(document, room);
    return room;
  }

  async #requestRoom(document: string): Promise<RoomLease> {
    if (!this.#isRegistered) await this.renew();
    const id = this.#id;
    const response = await this.#send("/collaboration/rooms/", { document, node: id });
    if (response.status === 404) this.#end(id);
    const { node, fence } = (response.body ?? {}) as { node?: unknown; fence?: unknown };
    if (response.status !== 200 || node !== id || typeof fence !== "number") throw roomMoved();
    return { node: id, fence };
  }

  async #find(document: string): Promise<OtherNode | undefined> {
    const { status, body } = await this.#send("/collaboration/rooms/", { document });
    if (status !== 200) throw new ApiError("unavailable", `The document service responds with ${status}`);
    const { node, address } = (body ?? {}) as { node?: unknown; address?: unknown };
    if (typeof node !== "string" || typeof address !== "string" || node === this.#id) return undefined;
    return { node, address };
  }

  async #renewOrWarn(): Promise<void> {
    await this.renew().catch((error: unknown) => this.#warn(error));
  }

  #warn(error: unknown): void {
    this.#options.log.warn("the lease of this process could not be renewed", { error });
  }

  async #renew(): Promise<void> {
    const id = this.#id;
    const closed = [...this.#rooms].filter(([, { holders }]) => holders === 0).slice(0, CLOSED_MAX);
    const response = await this.#keep(
      this.#isRegistered ? "running" : "starting",
      closed.map(([document]) => document),
    );
    if (response.status === 404) {
      this.#end(id);
      return;
    }
    if (response.status !== 200)
      throw new ApiError("unavailable", `The document service responds with ${response.status}`);
    this.#isRegistered = true;
    for (const [document] of closed) this.#rooms.delete(document);
    const { nodes } = response.body as { nodes: readonly OtherNode[] };
    this.onNodes?.(new Set(nodes.map(({ node }) => node)));
  }

  /** The lease has ended: others may have taken any of the rooms. The next renewal takes a new one. */
  #end(id: string): void {
    if (this.#id !== id) return;
    this.#id = randomUUID();
    this.#isRegistered = false;
    for (const [document, room] of [...this.#rooms]) this.#lose(document, room);
  }

  #keep(state: "starting" | "running" | "stopping", closed: readonly string[]): Promise<BackendResponse> {
    const { address } = this.#options;
    return this.#send("/collaboration/nodes/", { node: this.#id, address, state, closed });
  }

  async #send(path: string, body: unknown): Promise<BackendResponse> {
    const { request, key, requestMs = REQUEST_MS } = this.#options;
    try {
      return await request({
        method: "POST",
        path: `/api/v1.0${path}`,
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body,
        address: "",
        signal: AbortSignal.timeout(requestMs),
      });
    } catch (cause) {
      throw new ApiError("unavailable", "The document service does not respond", { cause });
    }
  }
}

/** The error of a room that another process has. */
export const roomMoved = (): ApiError =>
  new ApiError("unavailable", "Another server has the document open; connect again");
