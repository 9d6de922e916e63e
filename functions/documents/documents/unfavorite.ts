import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { setFavorite } from "#lib/documents/records/favorites.ts";
import { requireUser } from "#lib/documents/requests/viewer.ts";
import { toHandler } from "#lib/http/handler.ts";
import { HttpResponse } from "#lib/http/response.ts";
import { defineRoute } from "#lib/http/route.ts";
import { route as favorite } from "./favorite.ts";

/** Reference 1.6, DELETE documents/{id}/favorite/. */
export const route = defineRoute({
  ...favorite,
  operationId: "unfavoriteDocument",
  method: "DELETE",
  summary: "Remove a document from the caller's favorites",
  status: 204,
  response: z.void(),
  run: async ({ params, request }, deps: Deps) => {
    const changed = await setFavorite(deps, await requireUser(deps, request), params.id, false);
    return changed
      ? undefined
      : new HttpResponse({ detail: "Document was already not marked as favorite" }, { status: 200 });
  },
});

export const handler = toHandler(route, openDeps);
