import type { Ability } from "../access/abilities.ts";
import { type AuthorizationDeps, authorize } from "../authorization/document-access.ts";
import { resolveViewer, type ViewerDeps } from "./viewer.ts";

interface DocumentRequest {
  readonly params: { readonly id: string };
  readonly request: Parameters<typeof resolveViewer>[1];
}

/**
 * Whether the caller may do something with a document at all: asked where what they sent is wrong, as who may not is told
 * that and nothing else. The check throws `not_found`, `unauthorized`, `forbidden`. Reference 1.0.
 */
export const can =
  (ability: Ability) =>
  async ({ params, request }: DocumentRequest, deps: ViewerDeps & AuthorizationDeps): Promise<void> => {
    await authorize(deps, await resolveViewer(deps, request), params.id, ability);
  };
