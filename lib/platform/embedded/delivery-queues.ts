import { Deque } from "./deque.ts";
import type { DeliveryCounts, MessageContent, QueueRows } from "./queue-rows.ts";

/** A message in memory. */
export interface Entry {
  readonly seq: number;
  readonly groupId: string | undefined;
  /** Deliveries that were released, and the current one. */
  receives: number;
  /** Deliveries that ended, or may have ended, with an earlier process. */
  readonly interrupted: number;
  /** Missing if it must be read from disk: after a delivery, and beyond the window in memory. */
  content: MessageContent | undefined;
  state: "ready" | "in-flight" | "gone";
  /** When the visibility timeout ends, by the monotonic clock; only for messages in flight. */
  deadline: number;
}

export function newEntry(
  seq: number,
  groupId: string | undefined,
  counts: DeliveryCounts = { receives: 0, interrupted: 0 },
  content?: MessageContent,
): Entry {
  return { seq, groupId, ...counts, content, state: "ready", deadline: 0 };
}

/** The delivery order of one queue. Stores nothing on disk and delivers nothing itself. */
export interface DeliveryQueue {
  /** Adds a new, committed message. */
  arrive(entry: Entry): void;
  /**
   * The next message to deliver, which is then in flight until it is released or removed. After `previous` of the same
   * receive, it may be of the same group.
   */
  next(previous?: Entry): Entry | undefined;
  giveBack(entry: Entry): void;
  /** Removes a message, delivered or not. */
  remove(entry: Entry): void;
}

/** Maximum number of message bodies of one queue in memory; the rest are on disk. */
const WINDOW = 2000;
const WINDOW_CHARACTERS = 4 * 1024 * 1024;
const REFILL = 500;

/** Delivers roughly in the order of sending. Only a window of the waiting messages is in memory. */
export function standardDeliveryQueue(rows: QueueRows): DeliveryQueue {
  const fresh = new Deque<Entry>();
  const returned = new Deque<Entry>();
  let characters = 0;
  /** Messages after `loadedThrough` are only on disk. */
  let onDisk = true;
  let loadedThrough = 0;
  /** Later messages must not be delivered yet, although they can be read. */
  let arrivedThrough = rows.last;

  const load = (entry: Entry, { body }: MessageContent): void => {
    characters += body.length;
    loadedThrough = entry.seq;
    fresh.push(entry);
  };
  const refill = (): void => {
    let found = 0;
    for (const { seq, groupId, counts, id, body, sentAt } of rows.after(loadedThrough, REFILL)) {
      if (seq > arrivedThrough) return;
      found += 1;
      const content = { id, body, sentAt };
      load(newEntry(seq, groupId, counts, content), content);
      if (characters > WINDOW_CHARACTERS) return;
    }
    onDisk = found === REFILL;
  };
  return {
    arrive: (entry) => {
      const { content } = entry;
      arrivedThrough = Math.max(arrivedThrough, entry.seq);
      // A refill may have loaded it already, after an earlier arrival.
      if (entry.seq <= loadedThrough) return;
      if (onDisk || content === undefined || fresh.length >= WINDOW || characters > WINDOW_CHARACTERS)
        onDisk = true;
      else load(entry, content);
    },
    next: () => {
      for (;;) {
        const back = returned.shift();
        if (back !== undefined) {
          if (back.state === "gone") continue;
          back.state = "in-flight";
          return back;
        }
        if (fresh.length === 0 && onDisk) refill();
        const entry = fresh.shift();
        if (entry === undefined) return undefined;
        entry.state = "in-flight";
        characters -= entry.content?.body.length ?? 0;
        return entry;
      }
    },
    giveBack: (entry) => {
      entry.state = "ready";
      entry.content = undefined;
      returned.push(entry);
    },
    remove: (entry) => {
      entry.state = "gone";
    },
  };
}

interface Group {
  readonly id: string;
  readonly entries: Deque<Entry>;
  /** Delivered together: the group is blocked until all of them are deleted or released. */
  readonly held: Set<Entry>;
  queued: boolean;
}

/**
 * Delivers the messages of a group in order, one receive at a time, and rotates between groups. The order of all
 * messages is in memory, a few dozen bytes each; bodies only within the window.
 */
export function fifoDeliveryQueue(rows: QueueRows): DeliveryQueue {
  const groups = new Map<string, Group>();
  const turn = new Deque<Group>();
  let characters = 0;

  const queue = (group: Group): void => {
    if (group.held.size > 0 || group.queued) return;
    group.queued = true;
    turn.push(group);
  };
  const release = (group: Group, entry: Entry): void => {
    if (group.held.delete(entry)) queue(group);
  };
  const add = (entry: Entry): void => {
    const id = entry.groupId ?? "";
    let group = groups.get(id);
    if (group === undefined) {
      group = { id, entries: new Deque(), held: new Set(), queued: false };
      groups.set(id, group);
    }
    group.entries.push(entry);
    queue(group);
  };
  const forget = (entry: Entry): void => {
    characters -= entry.content?.body.length ?? 0;
    entry.content = undefined;
  };
  for (const { seq, groupId, counts } of rows.allWaiting()) add(newEntry(seq, groupId, counts));
  const hold = (group: Group, entry: Entry): Entry => {
    group.held.add(entry);
    entry.state = "in-flight";
    characters -= entry.content?.body.length ?? 0;
    return entry;
  };
  /** The next message of the group of a message in flight. */
  const following = ({ groupId }: Entry): Entry | undefined => {
    const group = groups.get(groupId ?? "");
    if (group === undefined || group.held.size === 0) return undefined;
    for (let index = 0; index < group.entries.length; index += 1) {
      const entry = group.entries.at(index);
      if (entry?.state === "ready") return hold(group, entry);
    }
    return undefined;
  };

  return {
    arrive: (entry) => {
      if (characters > WINDOW_CHARACTERS) entry.content = undefined;
      characters += entry.content?.body.length ?? 0;
      add(entry);
    },
    next: (previous) => {
      const next = previous === undefined ? undefined : following(previous);
      if (next !== undefined) return next;
      for (let group = turn.shift(); group !== undefined; group = turn.shift()) {
        group.queued = false;
        while (group.entries.peek()?.state === "gone") group.entries.shift();
        const entry = group.entries.peek();
        if (entry === undefined) {
          groups.delete(group.id);
          continue;
        }
        return hold(group, entry);
      }
      return undefined;
    },
    giveBack: (entry) => {
      entry.state = "ready";
      entry.content = undefined;
      const group = groups.get(entry.groupId ?? "");
      if (group !== undefined) release(group, entry);
    },
    remove: (entry) => {
      if (entry.state === "ready") forget(entry);
      entry.state = "gone";
      const group = groups.get(entry.groupId ?? "");
      if (group !== undefined) release(group, entry);
    },
  };
}
