import { ApiError } from "../../errors.ts";
import type { Principal } from "../../http/route.ts";
import type { DocumentSettings } from "../../settings/document-config.ts";
import { notAuthenticated, permissionDenied } from "../access/errors.ts";
import type { CommitDeps } from "../changes/commit.ts";
import { acceptInvitations } from "../sharing/accept-invitations.ts";
import type { StoredUser } from "../tables/users.ts";
import { findUser, getOrCreateOwner, type UserDeps } from "../users/users.ts";

export type ViewerDeps = UserDeps & CommitDeps & { readonly documents: DocumentSettings };

/** Whoever asked, as the authentication step found. */
interface AuthenticatedRequest {
  readonly principal: Pick<Principal, "kind" | "id"> | undefined;
}

/** The user who asks; undefined for anybody. Throws `unauthorized` for one who is gone, or may not come in any more. */
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
  // With the first request of somebody new, and where one before has not come to its end.
  if (user.invitations_pending === true) await acceptInvitations(deps, user);
  return user;
}

/** Likewise where nobody else may ask. Throws `unauthorized`. */
export async function requireUser(deps: ViewerDeps, asking: AuthenticatedRequest): Promise<StoredUser> {
  const viewer = await resolveViewer(deps, asking);
  if (viewer === undefined) throw notAuthenticated();
  return viewer;
}

/** Throws `forbidden` for everybody but whoever has the installation's own token. */
export function requireInstallationOwner({ principal }: AuthenticatedRequest): void {
  if (principal?.kind !== "owner") throw permissionDenied();
}
