import { ApiError } from "../../errors.ts";
import type { RequestInfo } from "../../http/route.ts";
import type { DocumentSettings } from "../../settings/document-config.ts";
import { type AuthorizationDeps, authorize, type Viewer } from "../authorization/document-access.ts";
import { resolveViewer, type ViewerDeps } from "../requests/viewer.ts";
import { countAiRequest } from "./usage-limits.ts";

export type AiAccessDeps = AuthorizationDeps & ViewerDeps;
type AiAbility = "ai_transform" | "ai_translate" | "ai_proxy";

/** A request for an AI function of a document. */
export interface AiRequest {
  readonly params: { readonly id: string };
  readonly request: RequestInfo;
}

/**
 * Authorizes a request for an AI function, and checks that it is enabled. Throws `not_found`, `unauthorized`,
 * `forbidden`, and then `bad_request`. Reference 6.
 */
export const canUseAi =
  (ability: AiAbility) =>
  async ({ params, request }: AiRequest, deps: AiAccessDeps): Promise<Viewer> => {
    const viewer = await resolveViewer(deps, request);
    await authorize(deps, viewer, params.id, ability);
    const message = "AI feature is not enabled.";
    if (!isEnabled(deps.documents, ability)) throw new ApiError("bad_request", message, { body: [message] });
    return viewer;
  };

/** As `canUseAi`, and counts the request. Throws `too_many_requests`, too. */
export async function admitAiRequest(
  deps: AiAccessDeps,
  ability: AiAbility,
  asked: AiRequest,
): Promise<void> {
  const viewer = await canUseAi(ability)(asked, deps);
  await countAiRequest(deps, viewer, asked.params.id, asked.request);
}

/** Transformations belong to the menu of AI actions, the proxy to the editor's own assistant. */
function isEnabled({ clientSettings }: DocumentSettings, ability: AiAbility): boolean {
  const own = ability === "ai_proxy" ? "AI_FEATURE_BLOCKNOTE_ENABLED" : "AI_FEATURE_LEGACY_ENABLED";
  return clientSettings.AI_FEATURE_ENABLED && clientSettings[own];
}
