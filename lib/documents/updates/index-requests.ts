import type { Ports } from "../../platform/ports.ts";
import { requestIndexing } from "../changes/indexed-changes.ts";

/** Time from an edit until it is indexed, seconds, and for each further megabyte of content, which costs time to read. */
const DELAY_S = 1;
const DELAY_PER_MB_S = 2;
const DELAY_MAX_S = 30;
/** How much earlier than requested a message may arrive, milliseconds. */
const MARGIN_MS = 200;

/** Requests indexing of a document that is edited: at most once per second. */
export class IndexRequests {
  /** Until when the last message has surely not arrived: it covers the edits until then. */
  #until = 0;

  /** Called after an edit was stored. `bytes` is the size of the content. If the message is lost, the pending event indexes. */
  request(
    { queues, clock, log }: Pick<Ports, "queues" | "clock" | "log">,
    document: string,
    bytes: number,
  ): void {
    const now = clock.now();
    if (now < this.#until) return;
    const delay = Math.min(DELAY_S + Math.floor(bytes / 1024 ** 2) * DELAY_PER_MB_S, DELAY_MAX_S);
    this.#until = now + delay * 1000 - MARGIN_MS;
    requestIndexing({ queues }, document, delay).catch((error: unknown) => {
      log.warn("requesting the indexing of a document failed", { document, error });
    });
  }
}
