import type { Write } from "../../platform/tables.ts";
import { accessDenied, type DocumentAccess, type Viewer } from "../authorization/document-access.ts";
import { commitChange } from "../changes/commit.ts";
import { documentEvent } from "../events/document-event.ts";
import { commentsTable, type StoredComment, threadKey, threadsTable } from "../tables/threads.ts";
import { commentAbilities } from "./abilities.ts";
import { type CommentPath, loadComment, loadThread, type ThreadPath } from "./read.ts";
import { type CommentRecord, toComment } from "./record.ts";
import { commentBytes, REACTION_BYTES, reserveSpace } from "./size-limits.ts";
import { newComment, type ThreadDeps } from "./threads.ts";

/** Reserves or releases space for a change of an existing thread. Throws `bad_request` if none is left. */
export async function reserveThreadSpace(
  deps: ThreadDeps,
  path: ThreadPath,
  bytes: number,
): Promise<Write[]> {
  const { id, thread } = path;
  return [
    {
      op: "update",
      table: threadsTable,
      key: threadKey(id, thread),
      change: { add: { bytes } },
      when: [["pk", "exists"]],
    },
    await reserveSpace(deps, id, { bytes }),
  ];
}

/** Plans an update of a comment. It fails if the comment has changed. */
export function commentUpdate(
  { pk, sk, revision }: StoredComment,
  set: Partial<Pick<StoredComment, "body" | "updated_at" | "reactions">>,
): Write {
  return {
    op: "update",
    table: commentsTable,
    key: { pk, sk },
    change: { set: { ...set }, add: { revision: 1 } },
    when: [["revision", "=", revision]],
  };
}

/**
 * Adds a comment to a thread. Throws `bad_request` if no space is left, `not_found`, `unauthorized`, `forbidden`.
 * Reference 1.12.
 */
export async function createComment(
  deps: ThreadDeps,
  viewer: Viewer,
  path: ThreadPath,
  body: string,
): Promise<CommentRecord> {
  const { access, comment } = await commitChange(deps, async () => {
    const { access } = await loadThread(deps, viewer, path);
    const comment = newComment(deps, viewer, path, body);
    const ids = { thread_id: path.thread, comment_id: comment.id };
    return {
      writes: [
        ...(await reserveThreadSpace(deps, path, commentBytes(body))),
        { op: "put", table: commentsTable, item: comment },
      ],
      events: [documentEvent("documents.commented", access.document, viewer, ids)],
      result: { access, comment },
    };
  });
  return toComment(deps, access, comment);
}

/**
 * Updates a comment; only its author may. Without a body it saves nothing. Throws `bad_request`, `not_found`,
 * `unauthorized`, `forbidden`. Reference 1.12.
 */
export async function updateComment(
  deps: ThreadDeps,
  viewer: Viewer,
  path: CommentPath,
  body: string | undefined,
): Promise<CommentRecord> {
  type Changed = { readonly access: DocumentAccess; readonly comment: StoredComment };
  const { access, comment } = await commitChange<Changed>(deps, async () => {
    const { access, comment } = await loadComment(deps, viewer, path);
    if (!commentAbilities(access, comment).partial_update) throw accessDenied(viewer);
    if (body === undefined) return { writes: [], events: [], result: { access, comment } };
    const set = { body, updated_at: new Date(deps.clock.now()).toISOString() };
    const more = commentBytes(body) - commentBytes(comment.body);
    return {
      writes: [...(await reserveThreadSpace(deps, path, more)), commentUpdate(comment, set)],
      events: [],
      result: { access, comment: { ...comment, ...set } },
    };
  });
  return toComment(deps, access, comment);
}

/** Deletes a comment; its thread remains. Throws `not_found`, `unauthorized`, `forbidden`. Reference 1.12. */
export async function deleteComment(deps: ThreadDeps, viewer: Viewer, path: CommentPath): Promise<void> {
  await commitChange(deps, async () => {
    const { access, comment } = await loadComment(deps, viewer, path);
    if (!commentAbilities(access, comment).destroy) throw accessDenied(viewer);
    const { pk, sk, revision, reactions } = comment;
    const reactors = reactions.reduce((sum, { users }) => sum + users.length, 0);
    const bytes = commentBytes(comment.body) + reactors * REACTION_BYTES;
    return {
      writes: [
        ...(await reserveThreadSpace(deps, path, -bytes)),
        { op: "delete", table: commentsTable, key: { pk, sk }, when: [["revision", "=", revision]] },
      ],
      events: [],
      result: undefined,
    };
  });
}
