import * as z from "zod";
import { type Deps, openDeps } from "#lib/deps.ts";
import { documentParams } from "#lib/documents/fields.ts";
import { setFavorite } from "#lib/documents/records/favorites.ts";
import { signedIn } from "#lib/documents/requests/viewer.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute, OtherAnswer } from "#lib/http/route.ts";

/** Reference 1.6, DELETE documents/{id}/favorite/. */
export const route = defineRoute({
  service: "documents",
  operationId: "unfavoriteDocument",
  method: "DELETE",
  path: "/documents/{id}/favorite",
  summary: "Take a document out of the favorites",
  tag: "Documents",
  auth: "token",
  throttle: "document",
  params: documentParams,
  status: 204,
  response: z.void(),
  errors: [403],
  run: async ({ params, request }, deps: Deps) => {
    const changed = await setFavorite(deps, await signedIn(deps, request), params.id, false);
    return changed
      ? undefined
      : new OtherAnswer({ detail: "Document was already not marked as favorite" }, { status: 200 });
  },
});

export const handler = toHandler(route, openDeps);
