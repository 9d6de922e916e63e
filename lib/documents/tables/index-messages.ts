import type { OutgoingMessage } from "../../platform/queues.ts";

export const INDEX_DOCUMENTS_QUEUE = "index-documents";

/** Requests that the full-text index gets the current state of a document. */
export interface IndexMessage {
  /** Null stands for what all roots are children of. */
  readonly document_id: string | null;
  /** Also its descendants: each child gets a message. */
  readonly descendants?: true;
  /** Only children after this sort key. */
  readonly after?: string;
}

/** `delaySeconds`: when the message arrives. */
export const indexMessage = (message: IndexMessage, delaySeconds = 0): OutgoingMessage => ({
  body: JSON.stringify(message),
  ...(delaySeconds === 0 ? {} : { delaySeconds }),
});
