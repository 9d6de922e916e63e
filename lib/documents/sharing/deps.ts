import type { EventDraft } from "../../events/publish.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Role } from "../access/roles.ts";
import type { SeenDeps, Viewer } from "../access/seen.ts";
import type { CommitDeps } from "../commit.ts";
import { documentEvent } from "../records/events.ts";
import type { StoredDocument } from "../tree/table.ts";

export type SharingDeps = CommitDeps & SeenDeps & Pick<Ports, "ids">;

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

/** Oldest first; of the same time, by their ids. */
export const byCreation = (
  one: { readonly created_at: string; readonly id: string },
  other: { readonly created_at: string; readonly id: string },
): number => (one.created_at + one.id < other.created_at + other.id ? -1 : 1);
