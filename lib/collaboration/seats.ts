import type { CollaborationLimits } from "./limits.ts";

/** The place of a connection in a room. */
export interface Seat {
  release(): void;
}

type SeatLimits = Pick<CollaborationLimits, "rooms" | "connectionsPerRoom" | "connectionsPerUser">;

/** Counts connections of rooms and users. A seat is taken before a room opens, so concurrent clients are counted. */
export class Seats {
  readonly #limits: SeatLimits;
  readonly #rooms = new Map<string, number>();
  readonly #users = new Map<string, number>();

  constructor(limits: SeatLimits) {
    this.#limits = limits;
  }

  /** Takes a seat. Returns the reason as text if a limit is reached. */
  take(room: string, user: string | undefined): Seat | string {
    const { rooms, connectionsPerRoom, connectionsPerUser } = this.#limits;
    const inRoom = this.#rooms.get(room) ?? 0;
    if (inRoom === 0 && this.#rooms.size >= rooms) return `Too many open documents: at most ${rooms}`;
    if (inRoom >= connectionsPerRoom)
      return `Too many connections to this document: at most ${connectionsPerRoom}`;
    if (user !== undefined && (this.#users.get(user) ?? 0) >= connectionsPerUser)
      return `Too many connections of this user: at most ${connectionsPerUser}`;
    add(this.#rooms, room, 1);
    if (user !== undefined) add(this.#users, user, 1);
    let isTaken = true;
    return {
      release: () => {
        if (!isTaken) return;
        isTaken = false;
        add(this.#rooms, room, -1);
        if (user !== undefined) add(this.#users, user, -1);
      },
    };
  }
}

function add(counts: Map<string, number>, name: string, change: number): void {
  const count = (counts.get(name) ?? 0) + change;
  if (count > 0) counts.set(name, count);
  else counts.delete(name);
}
