import { hash } from "node:crypto";
import { type ChangeBatch, ChangeFeed, changeTables, type FeedDeps } from "../changes/change-feed.ts";
import { usersOfExpiredSessions } from "../login/sessions.ts";
import { documentKey, documentsTable } from "../tables/documents.ts";
import { ancestorsAndSelf, idsOf, resolveAllAncestors } from "../tree/ancestors.ts";

/** What has changed since the last read. */
export interface AccessChanges {
  /** Everything may have changed. */
  readonly isReset: boolean;
  /** Changed documents. */
  readonly documents: readonly string[];
  /** Users whose role on a document has changed. */
  readonly relations: readonly (readonly [user: string, document: string])[];
  /** Users whose session or token has ended. */
  readonly users: readonly string[];
}

/** What the access to a document depends on, besides the roles of users. */
export interface AccessState {
  /** Ids of the document and its ancestors. */
  readonly line: readonly string[];
  /** Differs if a link, a parent or a deletion has changed. */
  readonly fingerprint: string;
}

/** Reads changes that concern access, by any process. */
export interface AccessFeed {
  read(): Promise<AccessChanges>;
  /** Omits documents that do not exist. */
  statesOf(documents: readonly string[]): Promise<ReadonlyMap<string, AccessState>>;
}

/** Time between two reads of sessions that have expired, milliseconds. */
const EXPIRED_MS = 500;
/** An index may lag behind its table, milliseconds. */
const INDEX_LAG_MS = 2_000;

/** The changes in the tables. */
export function accessFeed(deps: FeedDeps): AccessFeed {
  const feed = new ChangeFeed();
  let expiredAt = deps.clock.now();
  const readExpired = async (): Promise<readonly string[]> => {
    const now = deps.clock.now();
    if (now - expiredAt < EXPIRED_MS) return [];
    const users = await usersOfExpiredSessions(deps, expiredAt - INDEX_LAG_MS, now);
    expiredAt = now;
    return users;
  };
  return {
    read: async () => toAccessChanges(await feed.read(changeTables(deps)), await readExpired()),
    statesOf: (documents) => readAccessStates(deps, documents),
  };
}

/** The changes of a batch, and users whose sessions have expired. */
export const toAccessChanges = (
  { isReset, rows }: ChangeBatch,
  expired: readonly string[],
): AccessChanges => ({
  isReset,
  documents: rows.flatMap(({ documents }) => documents),
  relations: rows.flatMap(({ relations }) => relations),
  users: [...expired, ...rows.flatMap(({ users = [] }) => users)],
});

/** Reads what the access to documents depends on. */
export async function readAccessStates(
  deps: FeedDeps,
  ids: readonly string[],
): Promise<ReadonlyMap<string, AccessState>> {
  const documents = await deps.tables.batchGet(documentsTable, ids.map(documentKey));
  const nodes = await resolveAllAncestors(deps, documents);
  return new Map(
    nodes.map((node) => {
      const line = ancestorsAndSelf(node);
      const state = line.map(({ id, link_reach, link_role, deleted_at, pending_move = null }) => [
        id,
        link_reach,
        link_role,
        deleted_at,
        pending_move,
      ]);
      const fingerprint = hash("sha256", JSON.stringify(state), "base64url");
      return [node.document.id, { line: idsOf(line), fingerprint }];
    }),
  );
}
