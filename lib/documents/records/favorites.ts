import { ApiError } from "../../errors.ts";
import type { Write } from "../../platform/tables.ts";
import { type AuthorizationDeps, authorize, type DocumentAccess } from "../authorization/document-access.ts";
import { type CommitDeps, commitChange } from "../changes/commit.ts";
import { relationKey, relationsTable } from "../tables/accesses.ts";
import type { StoredUser } from "../tables/users.ts";

type FavoriteDeps = CommitDeps & AuthorizationDeps;
type Flag = "favorite" | "masked";

/**
 * Adds a document to the user's favorites or removes it. Returns false if nothing changed. Throws `not_found`,
 * `forbidden`. Reference 1.6.
 */
export const setFavorite = (
  deps: FavoriteDeps,
  user: StoredUser,
  id: string,
  favorite: boolean,
): Promise<boolean> => setFlag(deps, user, id, "favorite", favorite);

/**
 * Masks a document that the user has opened, or unmasks it. Returns false if nothing changed. Throws `bad_request` if
 * the user has never opened the document, `not_found`, `forbidden`. Reference 1.6.
 */
export const setMasked = (
  deps: FavoriteDeps,
  user: StoredUser,
  id: string,
  masked: boolean,
): Promise<boolean> =>
  setFlag(deps, user, id, "masked", masked, ({ relation }) => {
    if (relation?.trace !== true)
      throw new ApiError("bad_request", "User never accessed this document before.");
  });

function setFlag(
  deps: FavoriteDeps,
  user: StoredUser,
  id: string,
  flag: Flag,
  wanted: boolean,
  check: (access: DocumentAccess) => void = () => undefined,
): Promise<boolean> {
  return commitChange(deps, async () => {
    const access = await authorize(deps, user, id, flag === "favorite" ? "favorite" : "mask");
    check(access);
    if ((access.relation?.[flag] === true) === wanted) return { writes: [], events: [], result: false };
    const write: Write = {
      op: "update",
      table: relationsTable,
      key: relationKey(user.id, id),
      change: wanted ? { set: { document: id, [flag]: true } } : { remove: [flag] },
      when: [[flag, wanted ? "missing" : "exists"]],
    };
    return { writes: [write], events: [], result: true };
  });
}
