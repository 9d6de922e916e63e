import type { RequestInfo } from "../../http/route.ts";
import type { Ability } from "../access/abilities.ts";
import {
  type AuthorizationDeps,
  accessDenied,
  type DocumentAccess,
  documentNotFound,
  findDocument,
  type Viewer,
} from "../authorization/document-access.ts";
import { resolveViewer, type ViewerDeps } from "../requests/viewer.ts";
import type { LiveAccess } from "./live-access.ts";

/**
 * The viewer's access to a document that is not deleted. Throws `not_found`, also for an owner if the document is
 * deleted; `unauthorized` and `forbidden` if the viewer lacks the ability.
 */
export async function authorizeLive(
  deps: AuthorizationDeps,
  viewer: Viewer,
  id: string,
  ability: Ability,
): Promise<DocumentAccess> {
  const access = await findDocument(deps, viewer, id);
  if (access.deletedAt !== null) throw documentNotFound();
  if (!access.abilities[ability]) throw accessDenied(viewer);
  return access;
}

/** The access of a request that reads a document's updates. Throws as `authorizeLive` and `resolveViewer`. */
export async function readLiveAccess(
  deps: AuthorizationDeps & ViewerDeps,
  request: Pick<RequestInfo, "principal" | "receivedAt">,
  id: string,
): Promise<LiveAccess> {
  const viewer = await resolveViewer(deps, request);
  const { abilities } = await authorizeLive(deps, viewer, id, "content_retrieve");
  return { canEdit: abilities.content_patch, user: viewer?.id, readAt: request.receivedAt };
}
