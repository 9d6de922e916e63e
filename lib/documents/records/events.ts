import type { EventDraft } from "../../events/publish.ts";
import type { Viewer } from "../access/seen.ts";
import type { StoredDocument } from "../tree/table.ts";

/** Topics of the documents that the event log and triggers know. */
export type DocumentTopic =
  | "documents.created"
  | "documents.updated"
  | "documents.moved"
  | "documents.deleted"
  | "documents.restored"
  | "documents.shared"
  | "documents.access_requested"
  | "documents.commented";

/** The event that tells what somebody did with a document. */
export function documentEvent(
  topic: DocumentTopic,
  { id, title, parent }: Pick<StoredDocument, "id" | "title" | "parent">,
  by: Viewer,
  more: Readonly<Record<string, unknown>> = {},
): EventDraft {
  return {
    ...{ topic, source: "documents", data_type: "document" },
    data: { document_id: id, title, parent_id: parent, user_id: by?.id ?? null, ...more },
  };
}
