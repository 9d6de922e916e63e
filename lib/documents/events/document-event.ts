import type { EventDraft } from "../../events/publish.ts";
import type { Role } from "../access/roles.ts";
import type { Viewer } from "../authorization/document-access.ts";
import type { StoredDocument } from "../tables/documents.ts";

/** Topics of document events. */
export type DocumentTopic =
  | "documents.created"
  | "documents.updated"
  | "documents.moved"
  | "documents.deleted"
  | "documents.restored"
  | "documents.shared"
  | "documents.access_requested"
  | "documents.commented"
  | "documents.attachment.uploaded"
  | "documents.attachment.infected";

/** Creates a document event. */
export function documentEvent(
  topic: DocumentTopic,
  { id, title, parent }: Pick<StoredDocument, "id" | "title" | "parent">,
  by: Viewer,
  more: Readonly<Record<string, unknown>> = {},
): EventDraft {
  return {
    topic,
    source: "documents",
    data_type: "document",
    data: { document_id: id, title, parent_id: parent, user_id: by?.id ?? null, ...more },
  };
}

/** The kind of change of an access. */
export type SharingChange = "given" | "changed" | "taken" | "invited";

/** Creates the event for changed link settings. */
export const linkEvent = (
  document: Pick<StoredDocument, "id" | "title" | "parent">,
  by: Viewer,
  { link_reach, link_role }: Pick<StoredDocument, "link_reach" | "link_role">,
): EventDraft =>
  documentEvent("documents.shared", document, by, {
    change: "link",
    shared_with: null,
    team: null,
    role: link_role,
    link_reach,
  });

/** Creates the event for a changed access. It contains no email address. */
export function sharedEvent(
  document: Pick<StoredDocument, "id" | "title" | "parent">,
  by: Viewer,
  { user, team, role }: { readonly user: string | null; readonly team: string | null; readonly role: Role },
  change: SharingChange,
): EventDraft {
  return documentEvent("documents.shared", document, by, {
    change,
    shared_with: user,
    team,
    role,
  });
}
