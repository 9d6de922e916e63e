import type { Ability } from "../access/abilities.ts";
import { openDocument, type SeenDeps } from "../authorization/document-access.ts";
import { type ViewerDeps, viewerOf } from "./viewer.ts";

interface Asking {
  readonly params: { readonly id: string };
  readonly request: Parameters<typeof viewerOf>[1];
}

/**
 * Whether the caller may do something with a document at all: asked where what they sent is wrong, as who may not is told
 * that and nothing else. The check throws `not_found`, `unauthorized`, `forbidden`. Reference 1.0.
 */
export const may =
  (ability: Ability) =>
  async ({ params, request }: Asking, deps: ViewerDeps & SeenDeps): Promise<void> => {
    await openDocument(deps, await viewerOf(deps, request), params.id, ability);
  };
