import { ApiError } from "../../errors.ts";
import type { Principal } from "../../http/route.ts";
import type { DocumentSettings } from "../../settings/document-config.ts";
import { notAuthenticated, permissionDenied } from "../access/errors.ts";
import type { CommitDeps } from "../changes/commit.ts";
import { acceptInvitations } from "../sharing/accept-invitations.ts";
import type { StoredUser } from "../tables/users.ts";
import { findUser, getOrCreateOwner, type UserDeps } from "../users/users.ts";

export type ViewerDeps = UserDeps & CommitDeps & { readonly documents: DocumentSettings };

/** A request after authentication. */
interface AuthenticatedRequest {
  readonly principal: Pick<Principal, "kind" | "id"> | undefined;
}

/**
 * Returns the user of a request; undefined if anonymous. Throws `unauthorized` if the user does not exist or is
 * inactive.
 */
export async function resolveViewer(
  deps: ViewerDeps,
  { principal }: AuthenticatedRequest,
): Promise<StoredUser | undefined> {
  if (principal === undefined) return undefined;
  // Another program of the installation has no account.
  if (principal.kind === "service") throw permissionDenied();
  const user =
    principal.kind === "owner"
      ? await getOrCreateOwner(deps, deps.documents.ownerEmail)
      : await findUser(deps, principal.id);
  if (user?.is_active !== true) throw new ApiError("unauthorized", "User not found or not active.");
  // On the first request of a new user, or if an earlier attempt was interrupted.
  if (user.invitations_pending === true) await acceptInvitations(deps, user);
  return user;
}

/** Returns the user of a request. Throws `unauthorized` if anonymous. */
export async function requireUser(deps: ViewerDeps, asking: AuthenticatedRequest): Promise<StoredUser> {
  const viewer = await resolveViewer(deps, asking);
  if (viewer === undefined) throw notAuthenticated();
  return viewer;
}

/** Throws `forbidden` unless the request uses the installation's own token. */
export function requireInstallationOwner({ principal }: AuthenticatedRequest): void {
  if (principal?.kind !== "owner") throw permissionDenied();
}
