import { hash } from "node:crypto";
import { ApiError } from "../../errors.ts";
import { parseCookies } from "../../http/cookies.ts";
import type { RequestInfo } from "../../http/route.ts";
import type { Ports } from "../../platform/ports.ts";
import { CONFLICT, retryOnConflict } from "../../retry-on-conflict.ts";
import type { DocumentSettings } from "../../settings/document-config.ts";
import { SESSION_COOKIE } from "../login/session-id.ts";
import { documentKey, documentsTable, type StoredDocument } from "../tables/documents.ts";
import type { LiveConnections } from "./live-connections.ts";

export type EditLockDeps = Pick<Ports, "tables" | "clock"> & {
  readonly documents: Pick<DocumentSettings, "editLock">;
  readonly liveConnections: LiveConnections;
};

type Request = Pick<RequestInfo, "headers" | "principal">;

/**
 * Whether the caller may save without being connected to the collaboration server. While others are connected, only a
 * connected session may; while nobody is, the first session that saves keeps others from saving for two minutes after
 * its last save. Without COLLABORATION_WS_NOT_CONNECTED_READ_ONLY everyone may. Reference 4.5.
 */
export async function mayEdit(deps: EditLockDeps, document: string, request: Request): Promise<boolean> {
  if (!deps.documents.editLock.isEnabled) return true;
  const session = sessionKey(request);
  const { count, exists } = await deps.liveConnections.count(document, session);
  if (count > 0) return exists;
  const row = await deps.tables.get(documentsTable, documentKey(document));
  return row === undefined || isFree(deps, row, holder(session));
}

/**
 * Takes or renews the lock of a save, unless the caller says that it is connected (`websocket`). Throws `forbidden` if
 * another session holds it. Reference 4.5.
 */
export async function takeEditLock(
  deps: EditLockDeps,
  document: string,
  request: Request,
  websocket: boolean | null | undefined,
): Promise<void> {
  if (!deps.documents.editLock.isEnabled || websocket === true) return;
  const session = sessionKey(request);
  const { count, exists } = await deps.liveConnections.count(document, session);
  const refused = new ApiError("forbidden", "You are not allowed to edit this document.");
  if (count > 0) {
    if (exists) return;
    throw refused;
  }
  const by = holder(session);
  await retryOnConflict(
    async () => {
      const row = await deps.tables.get(documentsTable, documentKey(document));
      if (row === undefined) return undefined;
      if (!isFree(deps, row, by)) throw refused;
      const { edit_lock_until: until } = row;
      const set = { edit_lock_by: by, edit_lock_until: deps.clock.now() + deps.documents.editLock.holdMs };
      const updated = await deps.tables.update(documentsTable, documentKey(document), { set }, [
        until === undefined ? ["edit_lock_until", "missing"] : ["edit_lock_until", "=", until],
      ]);
      return updated === undefined ? CONFLICT : undefined;
    },
    { exceeded: () => refused },
  );
}

const isFree = ({ clock }: EditLockDeps, row: StoredDocument, by: string): boolean =>
  row.edit_lock_by === by || (row.edit_lock_until ?? 0) <= clock.now();

/** Identifies the caller to the collaboration server: by the session cookie, as the reference does. */
function sessionKey({ headers, principal }: Request): string {
  return parseCookies(headers.cookie).get(SESSION_COOKIE) ?? principal?.credential?.id ?? "anonymous";
}

const holder = (session: string): string => hash("sha256", session, "base64url");
