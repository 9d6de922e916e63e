import type { Ports } from "../../platform/ports.ts";
import type { DocumentSettings } from "../../settings/document-config.ts";

/** The queue of the consumer that checks attachments. */
export const ATTACHMENTS_QUEUE = "attachments";
/** Time after which an upload that is not finished was interrupted, milliseconds. Less than the delay of a message. */
export const INTERRUPTED_MS = 14 * 60_000;

/** Checks one attachment, or what a document contains. */
export interface CheckMessage {
  readonly document_id: string;
  readonly key?: string;
  /** When its upload began, milliseconds since the epoch. */
  readonly uploaded_at?: number;
}

/**
 * Schedules a check: of a new attachment now, of an upload that may have been interrupted, or of a document for
 * attachments that nothing references.
 */
export async function scheduleCheck(
  { timers, clock, documents }: Pick<Ports, "timers" | "clock"> & { readonly documents: DocumentSettings },
  message: CheckMessage,
  what: "now" | "interrupted" | "unreferenced",
): Promise<void> {
  const { document_id, key } = message;
  const delay = { now: 0, interrupted: INTERRUPTED_MS, unreferenced: documents.attachments.unreferencedMs };
  const id = `attachments:${key ?? document_id}:${what === "now" ? "check" : "later"}`;
  await timers.set(id, clock.now() + delay[what], ATTACHMENTS_QUEUE, { body: JSON.stringify(message) });
}
