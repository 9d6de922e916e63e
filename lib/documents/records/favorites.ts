import { ApiError } from "../../errors.ts";
import type { Write } from "../../platform/tables.ts";
import { openDocument, type Seen, type SeenDeps } from "../authorization/document-access.ts";
import { type CommitDeps, commitChange } from "../changes/commit.ts";
import { relationKey, relationsTable } from "../tables/accesses.ts";
import type { StoredUser } from "../tables/users.ts";

type KeptDeps = CommitDeps & SeenDeps;
type Mark = "favorite" | "masked";

/**
 * Makes a document a favorite of the user, or no favorite any more. False where it was so already. Throws `not_found`,
 * `forbidden`. Reference 1.6.
 */
export const setFavorite = (
  deps: KeptDeps,
  user: StoredUser,
  id: string,
  favorite: boolean,
): Promise<boolean> => setMark(deps, user, id, "favorite", favorite);

/**
 * Masks a document that the user has opened, so that lists can leave it out, or shows it again. False where it was so
 * already. Throws `bad_request` where they have never opened it, `not_found`, `forbidden`. Reference 1.6.
 */
export const setMasked = (deps: KeptDeps, user: StoredUser, id: string, masked: boolean): Promise<boolean> =>
  setMark(deps, user, id, "masked", masked, ({ relation }) => {
    if (relation?.trace !== true)
      throw new ApiError("bad_request", "User never accessed this document before.");
  });

function setMark(
  deps: KeptDeps,
  user: StoredUser,
  id: string,
  mark: Mark,
  wanted: boolean,
  check: (seen: Seen) => void = () => undefined,
): Promise<boolean> {
  return commitChange(deps, async () => {
    const seen = await openDocument(deps, user, id, mark === "favorite" ? "favorite" : "mask");
    check(seen);
    if ((seen.relation?.[mark] === true) === wanted) return { writes: [], events: [], result: false };
    const write: Write = {
      ...{ op: "update", table: relationsTable, key: relationKey(user.id, id) },
      change: wanted ? { set: { document: id, [mark]: true } } : { remove: [mark] },
      when: [[mark, wanted ? "missing" : "exists"]],
    };
    return { writes: [write], events: [], result: true };
  });
}
