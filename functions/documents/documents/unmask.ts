import { type Deps, openDeps } from "#lib/app/aws.ts";
import { setMasked } from "#lib/documents/records/favorites.ts";
import { requireUser } from "#lib/documents/requests/viewer.ts";
import { toHandler } from "#lib/http/handler.ts";
import { HttpResponse } from "#lib/http/response.ts";
import { defineRoute } from "#lib/http/route.ts";
import { route as unfavorite } from "./unfavorite.ts";

/** Reference 1.6, DELETE documents/{id}/mask/. */
export const route = defineRoute({
  ...unfavorite,
  operationId: "unmaskDocument",
  path: "/documents/{id}/mask",
  summary: "Unmask a document",
  run: async ({ params, request }, deps: Deps) => {
    const changed = await setMasked(deps, await requireUser(deps, request), params.id, false);
    return changed
      ? undefined
      : new HttpResponse({ detail: "Document was already not masked" }, { status: 200 });
  },
});

export const handler = toHandler(route, openDeps);
