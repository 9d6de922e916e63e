import type { Ability } from "../access/abilities.ts";
import { type AuthorizationDeps, authorize } from "../authorization/document-access.ts";
import { resolveViewer, type ViewerDeps } from "./viewer.ts";

interface DocumentRequest {
  readonly params: { readonly id: string };
  readonly request: Parameters<typeof resolveViewer>[1];
}

/**
 * Returns a permission check for a route. It runs before validation, so a caller without the ability gets no
 * validation errors. The check throws `not_found`, `unauthorized`, `forbidden`. Reference 1.0.
 */
export const can =
  (ability: Ability) =>
  async ({ params, request }: DocumentRequest, deps: ViewerDeps & AuthorizationDeps): Promise<void> => {
    await authorize(deps, await resolveViewer(deps, request), params.id, ability);
  };
