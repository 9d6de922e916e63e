import { ApiError } from "../../errors.ts";
import { accessDenied, type Viewer } from "../authorization/document-access.ts";
import { commitChange } from "../changes/commit.ts";
import type { StoredComment, StoredReaction } from "../tables/threads.ts";
import { commentAbilities } from "./abilities.ts";
import { commentUpdate, reserveThreadSpace } from "./comments.ts";
import { type CommentPath, loadComment } from "./read.ts";
import { REACTION_BYTES } from "./size-limits.ts";
import type { ThreadDeps } from "./threads.ts";

/** Maximum reactions to a comment, since they are stored in it. */
const REACTORS_MAX = 5_000;

/**
 * Adds a reaction to a comment. Throws `bad_request` if the user already used this emoji or the comment has too many;
 * `not_found`, `unauthorized`, `forbidden`. Reference 1.12.
 */
export async function addReaction(
  deps: ThreadDeps,
  viewer: Viewer,
  path: CommentPath,
  emoji: string,
): Promise<void> {
  await change(deps, viewer, path, REACTION_BYTES, ({ reactions }, user) => {
    const known = reactions.find((reaction) => reaction.emoji === emoji);
    if (known?.users.includes(user) === true)
      throw new ApiError("bad_request", "You already reacted.", { body: { user_already_reacted: true } });
    const most = deps.documents.clientSettings.REACTIONS_MAX_PER_COMMENT;
    if (known === undefined && reactions.length >= most)
      throw refused(`A comment can have a maximum of ${most} distinct reactions.`);
    if (reactions.reduce((sum, { users }) => sum + users.length, 0) >= REACTORS_MAX)
      throw refused(`A comment can have a maximum of ${REACTORS_MAX} reactions.`);
    if (known !== undefined)
      return reactions.map((one) => (one === known ? { ...one, users: [...one.users, user] } : one));
    const created_at = new Date(deps.clock.now()).toISOString();
    return [...reactions, { id: deps.ids.random(), emoji, created_at, users: [user] }];
  });
}

/** Removes the user's reaction. Throws `not_found` if there is none; `unauthorized`, `forbidden`. Reference 1.12. */
export async function removeReaction(
  deps: ThreadDeps,
  viewer: Viewer,
  path: CommentPath,
  emoji: string,
): Promise<void> {
  await change(deps, viewer, path, -REACTION_BYTES, ({ reactions }, user) => {
    const known = reactions.find((reaction) => reaction.emoji === emoji);
    if (known?.users.includes(user) !== true) throw new ApiError("not_found", "Reaction not found.");
    return reactions
      .map((one) => (one === known ? { ...one, users: one.users.filter((id) => id !== user) } : one))
      .filter(({ users }) => users.length > 0);
  });
}

async function change(
  deps: ThreadDeps,
  viewer: Viewer,
  path: CommentPath,
  bytes: number,
  next: (comment: StoredComment, user: string) => readonly StoredReaction[],
): Promise<void> {
  await commitChange(deps, async () => {
    const { access, comment } = await loadComment(deps, viewer, path);
    if (viewer === undefined || !commentAbilities(access, comment).reactions) throw accessDenied(viewer);
    const reactions = next(comment, viewer.id);
    return {
      writes: [commentUpdate(comment, { reactions }), ...(await reserveThreadSpace(deps, path, bytes))],
      events: [],
      result: undefined,
    };
  });
}

const refused = (message: string): ApiError =>
  new ApiError("bad_request", message, { body: { emoji: [message] } });
