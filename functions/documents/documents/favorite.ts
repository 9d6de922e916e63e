import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { documentParams } from "#lib/documents/fields.ts";
import { setFavorite } from "#lib/documents/records/favorites.ts";
import { requireUser } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { toHandler } from "#lib/http/handler.ts";
import { HttpResponse } from "#lib/http/response.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Reference 1.6, POST documents/{id}/favorite/. */
export const route = defineRoute({
  service: documentsService,
  operationId: "favoriteDocument",
  method: "POST",
  path: "/documents/{id}/favorite",
  summary: "Add a document to the caller's favorites",
  tag: "Documents",
  auth: "required",
  throttle: "document",
  params: documentParams,
  status: 201,
  response: z.object({ detail: z.string() }),
  errors: [403],
  run: async ({ params, request }, deps: Deps) => {
    const changed = await setFavorite(deps, await requireUser(deps, request), params.id, true);
    if (changed) return { detail: "Document marked as favorite" };
    return new HttpResponse({ detail: "Document already marked as favorite" }, { status: 200 });
  },
});

export const handler = toHandler(route, openDeps);
