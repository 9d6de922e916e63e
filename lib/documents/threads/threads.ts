import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import {
  type AuthorizationDeps,
  accessDenied,
  authorize,
  type Viewer,
} from "../authorization/document-access.ts";
import { type CommitDeps, commitChange } from "../changes/commit.ts";
import { documentEvent } from "../events/document-event.ts";
import {
  commentKey,
  commentsTable,
  type StoredComment,
  type StoredThread,
  threadKey,
  threadsTable,
} from "../tables/threads.ts";
import { threadAbilities } from "./abilities.ts";
import { loadThread, readThread, type ThreadPath } from "./read.ts";
import { readComments, type ThreadRecord } from "./record.ts";
import { commentBytes, RECORD_BYTES, reserveSpace } from "./size-limits.ts";

export type ThreadDeps = CommitDeps & AuthorizationDeps & Pick<Ports, "ids">;

/** Creates a comment. */
export function newComment(
  { ids, clock }: Pick<Ports, "ids" | "clock">,
  viewer: Viewer,
  { id, thread }: ThreadPath,
  body: string,
): StoredComment {
  const comment = ids.ordered();
  const at = new Date(clock.now()).toISOString();
  return {
    ...commentKey(id, thread, comment),
    id: comment,
    document: id,
    thread,
    user: viewer?.id ?? null,
    body,
    created_at: at,
    updated_at: at,
    reactions: [],
    revision: 1,
  };
}

/**
 * Creates a thread with its first comment; `body` is JSON text. With a `thread` id, repeated calls create it once.
 * Throws `bad_request` at the limit, `not_found`, `unauthorized`, `forbidden`. Reference 1.12.
 */
export async function createThread(
  deps: ThreadDeps,
  viewer: Viewer,
  id: string,
  body: string,
  thread = deps.ids.ordered(),
): Promise<ThreadRecord> {
  await commitChange(deps, async () => {
    const { document } = await authorize(deps, viewer, id, "comment");
    if ((await deps.tables.get(threadsTable, threadKey(id, thread))) !== undefined)
      return { writes: [], events: [], result: undefined };
    const comment = newComment(deps, viewer, { id, thread }, body);
    const { user, created_at, updated_at } = comment;
    const bytes = RECORD_BYTES + commentBytes(body);
    const item: StoredThread = {
      ...threadKey(id, thread),
      id: thread,
      document: id,
      creator: user,
      created_at,
      updated_at,
      resolved: false,
      resolved_at: null,
      resolved_by: null,
      bytes,
    };
    return {
      writes: [
        await reserveSpace(deps, id, { threads: 1, bytes }),
        { op: "put", table: threadsTable, item, when: [["pk", "missing"]] },
        { op: "put", table: commentsTable, item: comment },
      ],
      events: [
        documentEvent("documents.commented", document, viewer, { thread_id: thread, comment_id: comment.id }),
      ],
      result: undefined,
    };
  });
  return readThread(deps, viewer, { id, thread });
}

/** Comments deleted per transaction. */
const REMOVED_AT_ONCE = 90;

/** Deletes a thread with its comments. Throws `not_found`, `unauthorized`, `forbidden`. Reference 1.12. */
export async function deleteThread(deps: ThreadDeps, viewer: Viewer, path: ThreadPath): Promise<void> {
  const left = await commitChange(deps, async () => {
    const { access, thread } = await loadThread(deps, viewer, path);
    if (!threadAbilities(access, thread).destroy) throw accessDenied(viewer);
    const comments = await readComments(deps, path.id, path.thread);
    const removals = comments.map(
      ({ pk, sk }): Write => ({ op: "delete", table: commentsTable, key: { pk, sk } }),
    );
    return {
      writes: [
        // Fails if a comment was added since the comments were read.
        {
          op: "delete",
          table: threadsTable,
          key: threadKey(path.id, path.thread),
          when: [["bytes", "=", thread.bytes]],
        },
        await reserveSpace(deps, path.id, { threads: -1, bytes: -thread.bytes }),
        ...removals.slice(0, REMOVED_AT_ONCE),
      ],
      events: [],
      result: removals.slice(REMOVED_AT_ONCE),
    };
  });
  // Comments without a thread are unreachable.
  for (let at = 0; at < left.length; at += REMOVED_AT_ONCE)
    await deps.tables.write(left.slice(at, at + REMOVED_AT_ONCE));
}

/** Resolves or reopens a thread. Throws `not_found`, `unauthorized`, `forbidden`. Reference 1.12. */
export async function resolveThread(
  deps: ThreadDeps,
  viewer: Viewer,
  path: ThreadPath,
  resolved: boolean,
): Promise<void> {
  await commitChange(deps, async () => {
    const { access, thread } = await loadThread(deps, viewer, path);
    if (!threadAbilities(access, thread)[resolved ? "resolve" : "unresolve"]) throw accessDenied(viewer);
    const at = new Date(deps.clock.now()).toISOString();
    const by = resolved
      ? { resolved_at: at, resolved_by: viewer?.id ?? null }
      : { resolved_at: null, resolved_by: null };
    const change: Write = {
      op: "update",
      table: threadsTable,
      key: threadKey(path.id, path.thread),
      change: { set: { resolved, ...by, updated_at: at } },
      when: [["resolved", "=", !resolved]],
    };
    return { writes: thread.resolved === resolved ? [] : [change], events: [], result: undefined };
  });
}
