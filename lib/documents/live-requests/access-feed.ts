import { type ChangeBatch, ChangeFeed, changeTables, type FeedDeps } from "../changes/change-feed.ts";
import { usersOfExpiredSessions } from "../login/sessions.ts";
import { documentKey, documentsTable } from "../tables/documents.ts";
import { ancestorsAndSelf, idsOf, resolveAllAncestors } from "../tree/ancestors.ts";

/** What has changed since the last read. */
export interface AccessChanges {
  /** Everything may have changed. */
  readonly isReset: boolean;
  /** Documents whose link, parent or deletion has changed. */
  readonly documents: readonly string[];
  /** Users whose role on a document has changed. */
  readonly relations: readonly (readonly [user: string, document: string])[];
  /** Users whose session or token has ended. */
  readonly users: readonly string[];
}

/** Reads changes that concern access, by any process. */
export interface AccessFeed {
  /** For how long after a read that reports a change other reads may not see all of it yet, milliseconds. */
  readonly lagMs: number;
  read(): Promise<AccessChanges>;
  /** Ids of documents and their ancestors, by document. Omits documents that do not exist. */
  linesOf(documents: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>>;
}

/** The lag where the writes of a transaction may become visible one by one, milliseconds. */
export const CHANGE_LAG_MS = 2_000;

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
    lagMs: deps.tables.partitionLimits === true ? CHANGE_LAG_MS : 0,
    read: async () => toAccessChanges(await feed.read(changeTables(deps)), await readExpired()),
    linesOf: (documents) => readLines(deps, documents),
  };
}

/** The changes of a batch, and users whose sessions have expired. */
export const toAccessChanges = (
  { isReset, rows }: ChangeBatch,
  expired: readonly string[],
): AccessChanges => ({
  isReset,
  documents: rows.flatMap(({ documents, access = documents }) => access),
  relations: rows.flatMap(({ relations }) => relations),
  users: [...expired, ...rows.flatMap(({ users = [] }) => users)],
});

/** Reads the ids of documents and their ancestors. */
export async function readLines(
  deps: FeedDeps,
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const documents = await deps.tables.batchGet(documentsTable, ids.map(documentKey));
  const nodes = await resolveAllAncestors(deps, documents);
  return new Map(nodes.map((node) => [node.document.id, idsOf(ancestorsAndSelf(node))]));
}
