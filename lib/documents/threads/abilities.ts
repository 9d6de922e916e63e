import type { DocumentAccess } from "../authorization/document-access.ts";
import type { StoredComment, StoredThread } from "../tables/threads.ts";

/** What somebody may do with a thread, by the names that clients know. Reference 1.12. */
export interface ThreadAbilities {
  readonly destroy: boolean;
  readonly update: boolean;
  readonly partial_update: boolean;
  readonly resolve: boolean;
  readonly unresolve: boolean;
  readonly retrieve: boolean;
}

/** Likewise with a comment. */
export interface CommentAbilities {
  readonly destroy: boolean;
  readonly update: boolean;
  readonly partial_update: boolean;
  readonly reactions: boolean;
  readonly retrieve: boolean;
}

/** Whoever has no name made nothing that could be told from what others made. */
const isBy = ({ viewer }: DocumentAccess, user: string | null): boolean =>
  viewer !== undefined && viewer.id === user;

/** Who may comment sees threads; who began one, and who manages the document, ends it. Reference 1.12. */
export function threadAbilities(
  access: DocumentAccess,
  thread: Pick<StoredThread, "creator">,
): ThreadAbilities {
  const { comment, accesses_manage } = access.abilities;
  const ends = comment && (accesses_manage || isBy(access, thread.creator));
  return {
    ...{ destroy: ends, update: ends, partial_update: ends },
    ...{ resolve: ends, unresolve: ends, retrieve: comment },
  };
}

/** A comment is its author's to change; managers may remove it. Reference 0.2, 1.12. */
export function commentAbilities(
  access: DocumentAccess,
  { user }: Pick<StoredComment, "user">,
): CommentAbilities {
  const { comment, accesses_manage } = access.abilities;
  const isOwn = comment && isBy(access, user);
  return {
    ...{ destroy: isOwn || (comment && accesses_manage), update: isOwn, partial_update: isOwn },
    ...{ reactions: comment && access.viewer !== undefined, retrieve: comment },
  };
}
