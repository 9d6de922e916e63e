import { type Deps, openDeps } from "#lib/app/aws.ts";
import { setMasked } from "#lib/documents/records/favorites.ts";
import { requireUser } from "#lib/documents/requests/viewer.ts";
import { toHandler } from "#lib/http/handler.ts";
import { HttpResponse } from "#lib/http/response.ts";
import { defineRoute } from "#lib/http/route.ts";
import { route as favorite } from "./favorite.ts";

/** Reference 1.6, POST documents/{id}/mask/. */
export const route = defineRoute({
  ...favorite,
  operationId: "maskDocument",
  path: "/documents/{id}/mask",
  summary: "Mask a document that the caller has opened, so that lists can exclude it",
  run: async ({ params, request }, deps: Deps) => {
    const changed = await setMasked(deps, await requireUser(deps, request), params.id, true);
    if (changed) return { detail: "Document was masked" };
    return new HttpResponse({ detail: "Document was already masked" }, { status: 200 });
  },
});

export const handler = toHandler(route, openDeps);
