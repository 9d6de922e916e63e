import type { DocumentAccess } from "../authorization/document-access.ts";
import type { StoredComment, StoredThread } from "../tables/threads.ts";

/** The abilities of a viewer on a thread, named as in the API. Reference 1.12. */
export interface ThreadAbilities {
  readonly destroy: boolean;
  readonly update: boolean;
  readonly partial_update: boolean;
  readonly resolve: boolean;
  readonly unresolve: boolean;
  readonly retrieve: boolean;
}

/** The abilities of a viewer on a comment. */
export interface CommentAbilities {
  readonly destroy: boolean;
  readonly update: boolean;
  readonly partial_update: boolean;
  readonly reactions: boolean;
  readonly retrieve: boolean;
}

/** Anonymous authors cannot be told apart. */
const isBy = ({ viewer }: DocumentAccess, user: string | null): boolean =>
  viewer !== undefined && viewer.id === user;

/** Commenters see threads; the creator and managers of the document can change and end them. Reference 1.12. */
export function threadAbilities(
  access: DocumentAccess,
  thread: Pick<StoredThread, "creator">,
): ThreadAbilities {
  const { comment, accesses_manage } = access.abilities;
  const ends = comment && (accesses_manage || isBy(access, thread.creator));
  return {
    destroy: ends,
    update: ends,
    partial_update: ends,
    resolve: ends,
    unresolve: ends,
    retrieve: comment,
  };
}

/** Authors can change their comments; managers can delete them. Reference 0.2, 1.12. */
export function commentAbilities(
  access: DocumentAccess,
  { user }: Pick<StoredComment, "user">,
): CommentAbilities {
  const { comment, accesses_manage } = access.abilities;
  const isOwn = comment && isBy(access, user);
  return {
    destroy: isOwn || (comment && accesses_manage),
    update: isOwn,
    partial_update: isOwn,
    reactions: comment && access.viewer !== undefined,
    retrieve: comment,
  };
}
