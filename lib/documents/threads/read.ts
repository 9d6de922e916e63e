import { ApiError } from "../../errors.ts";
import { readAll } from "../../events/read-all.ts";
import type { PageRequest } from "../../http/page.ts";
import {
  type AuthorizationDeps,
  authorize,
  type DocumentAccess,
  type Viewer,
} from "../authorization/document-access.ts";
import {
  commentKey,
  commentsTable,
  type StoredComment,
  type StoredThread,
  threadKey,
  threadsTable,
} from "../tables/threads.ts";
import {
  type CommentRecord,
  readAllComments,
  readComments,
  type ThreadRecord,
  toComment,
  toComments,
  toThreads,
} from "./record.ts";

/** Ids of a document and its thread. */
export interface ThreadPath {
  readonly id: string;
  readonly thread: string;
}

export interface CommentPath extends ThreadPath {
  readonly comment: string;
}

/** Returns a thread and the viewer's access to its document. Throws `not_found`, and what `authorize` throws. */
export async function loadThread(
  deps: AuthorizationDeps,
  viewer: Viewer,
  { id, thread: threadId }: ThreadPath,
): Promise<{ readonly access: DocumentAccess; readonly thread: StoredThread }> {
  const access = await authorize(deps, viewer, id, "comment");
  const thread = await deps.tables.get(threadsTable, threadKey(id, threadId));
  if (thread === undefined) throw new ApiError("not_found", "No Thread matches the given query.");
  return { access, thread };
}

/** Returns a comment of this thread. */
export async function loadComment(
  deps: AuthorizationDeps,
  viewer: Viewer,
  path: CommentPath,
): Promise<{
  readonly access: DocumentAccess;
  readonly thread: StoredThread;
  readonly comment: StoredComment;
}> {
  const opened = await loadThread(deps, viewer, path);
  const comment = await deps.tables.get(commentsTable, commentKey(path.id, path.thread, path.comment));
  if (comment === undefined) throw new ApiError("not_found", "No Comment matches the given query.");
  return { ...opened, comment };
}

/**
 * Lists all threads of a document, newest first, including resolved ones. Throws `not_found`, `unauthorized`,
 * `forbidden`. Reference 1.12.
 */
export async function listThreads(
  deps: AuthorizationDeps,
  viewer: Viewer,
  id: string,
): Promise<ThreadRecord[]> {
  const access = await authorize(deps, viewer, id, "comment");
  const threads = await readAll(deps, threadsTable, { pk: id });
  if (threads.length === 0) return [];
  const shown = await toThreads(deps, access, threads, await readAllComments(deps, id));
  return shown.toSorted(newestFirst);
}

function newestFirst(one: ThreadRecord, other: ThreadRecord): number {
  const [first, second] = [`${one.created_at} ${one.id}`, `${other.created_at} ${other.id}`];
  return first < second ? 1 : -1;
}

/** Throws `not_found`, `unauthorized`, `forbidden`. Reference 1.12. */
export async function readThread(
  deps: AuthorizationDeps,
  viewer: Viewer,
  path: ThreadPath,
): Promise<ThreadRecord> {
  const { access, thread } = await loadThread(deps, viewer, path);
  const [shown] = await toThreads(deps, access, [thread], await readComments(deps, path.id, path.thread));
  if (shown === undefined) throw new Error("a thread was not converted");
  return shown;
}

/**
 * Lists a page of a thread's comments, oldest first, and their total count. Throws `not_found`, `unauthorized`,
 * `forbidden`. Reference 1.12.
 */
export async function listComments(
  deps: AuthorizationDeps,
  viewer: Viewer,
  path: ThreadPath,
  { offset, limit }: PageRequest,
): Promise<{ readonly count: number; readonly results: readonly CommentRecord[] }> {
  const { access } = await loadThread(deps, viewer, path);
  const comments = await readComments(deps, path.id, path.thread);
  const page = comments.slice(offset, offset + limit);
  return { count: comments.length, results: await toComments(deps, access, page) };
}

/** Throws `not_found`, `unauthorized`, `forbidden`. Reference 1.12. */
export async function readComment(
  deps: AuthorizationDeps,
  viewer: Viewer,
  path: CommentPath,
): Promise<CommentRecord> {
  const { access, comment } = await loadComment(deps, viewer, path);
  return toComment(deps, access, comment);
}
