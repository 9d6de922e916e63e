import type { Ports } from "../../platform/ports.ts";
import { requestIndexing } from "../changes/indexed-changes.ts";

/** Time from an edit until it is indexed, seconds, and for each further megabyte of content, which costs time to read. */
const DELAY_S = 1;
const DELAY_PER_MB_S = 2;
const DELAY_MAX_S = 30;
/** Documents that a process requests to be indexed per second: if more are edited at the same time, each waits longer. */
const PER_SECOND = 50;
/** How much earlier than requested a message may arrive, milliseconds. */
const MARGIN_MS = 200;

type IndexRequestDeps = Pick<Ports, "queues" | "clock" | "log">;

/** When the messages that a process has requested arrive, by document, milliseconds. */
const arrivals = new WeakMap<Ports["queues"], Map<string, number>>();

/** Requests indexing of a document that is edited: at most once per second, and less often while many others are, too. */
export class IndexRequests {
  /** Until when the last message has surely not arrived: it covers the edits until then. */
  #until = 0;

  /** Called after an edit was stored. `bytes` is the size of the content. If the message is lost, the pending event indexes. */
  request(deps: IndexRequestDeps, document: string, bytes: number): void {
    const now = deps.clock.now();
    if (now < this.#until) return;
    const needed = DELAY_S + Math.floor(bytes / 1024 ** 2) * DELAY_PER_MB_S;
    const pending = pendingArrivals(deps, now);
    const delay = Math.min(Math.max(needed, Math.ceil(pending.size / PER_SECOND)), DELAY_MAX_S);
    pending.set(document, now + delay * 1000);
    this.#until = now + delay * 1000 - MARGIN_MS;
    requestIndexing(deps, document, delay).catch((error: unknown) => {
      deps.log.warn("requesting the indexing of a document failed", { document, error });
    });
  }
}

/** The messages of a process that have not arrived yet. */
function pendingArrivals({ queues }: Pick<Ports, "queues">, now: number): Map<string, number> {
  const known = arrivals.get(queues) ?? new Map<string, number>();
  arrivals.set(queues, known);
  for (const [document, at] of known) if (at <= now) known.delete(document);
  return known;
}
