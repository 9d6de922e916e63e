import type { EventDraft } from "../../events/publish.ts";
import type { Role } from "../access/roles.ts";
import type { Viewer } from "../authorization/document-access.ts";
import type { StoredDocument } from "../tables/documents.ts";

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

/** What became of somebody's access. */
export type SharingChange = "given" | "changed" | "taken" | "invited";

/** Tells that a document's link was set otherwise than before. */
export const linkEvent = (
  document: Pick<StoredDocument, "id" | "title" | "parent">,
  by: Viewer,
  { link_reach, link_role }: Pick<StoredDocument, "link_reach" | "link_role">,
): EventDraft =>
  documentEvent("documents.shared", document, by, {
    ...{ change: "link", shared_with: null, team: null, role: link_role, link_reach },
  });

/** Tells that a document is shared with somebody otherwise than before; addresses are not told. */
export function sharedEvent(
  document: Pick<StoredDocument, "id" | "title" | "parent">,
  by: Viewer,
  { user, team, role }: { readonly user: string | null; readonly team: string | null; readonly role: Role },
  change: SharingChange,
): EventDraft {
  return documentEvent("documents.shared", document, by, {
    ...{ change, shared_with: user, team, role },
  });
}
