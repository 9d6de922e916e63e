import type { Ability } from "../access/abilities.ts";
import {
  type AuthorizationDeps,
  type DocumentAccess,
  resolveAccesses,
} from "../authorization/document-access.ts";
import { documentKey, documentsTable } from "../tables/documents.ts";
import type { NotificationKind, StoredNotification } from "../tables/notifications.ts";
import type { StoredUser } from "../tables/users.ts";
import { mayUseAutomation } from "./automation-access.ts";

/**
 * What a user must be able to do with the document to read a notification; undefined for those about runs. The text of a
 * document, which may mention users, has more readers than its comments.
 */
const REQUIRED_ABILITY: Readonly<Record<NotificationKind, Ability | undefined>> = {
  comment: "comment",
  reply: "comment",
  mention: "comment",
  share: "retrieve",
  access_request: "accesses_manage",
  failed_run: undefined,
};

export interface VisibleNotification {
  readonly notification: StoredNotification;
  /** Undefined if it is about a run. */
  readonly access: DocumentAccess | undefined;
}

/** Whether an access allows to read such a notification. Nothing is shown of a deleted document. */
export function mayRead(
  { kind, block }: Pick<StoredNotification, "kind" | "block">,
  access: DocumentAccess,
): boolean {
  const ability = block === undefined ? REQUIRED_ABILITY[kind] : "content_retrieve";
  return ability !== undefined && access.deletedAt === null && access.abilities[ability];
}

/** The notifications that a user may read now, in the same order. */
export async function visibleTo(
  deps: AuthorizationDeps,
  user: StoredUser,
  notifications: readonly StoredNotification[],
): Promise<VisibleNotification[]> {
  const ids = new Set(notifications.flatMap(({ document }) => document ?? []));
  const documents = await deps.tables.batchGet(documentsTable, [...ids].map(documentKey));
  const { accesses } = await resolveAccesses(deps, user, documents);
  const byId = new Map(accesses.map((access) => [access.document.id, access]));
  const seesRuns =
    notifications.some(({ kind }) => kind === "failed_run") && (await mayUseAutomation(deps, user.id));
  return notifications.flatMap((notification): VisibleNotification[] => {
    const { kind, document } = notification;
    if (document === undefined)
      return kind === "failed_run" && seesRuns ? [{ notification, access: undefined }] : [];
    const access = byId.get(document);
    return access !== undefined && mayRead(notification, access) ? [{ notification, access }] : [];
  });
}
