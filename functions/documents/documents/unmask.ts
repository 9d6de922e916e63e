import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { documentParams } from "#lib/documents/fields.ts";
import { setMasked } from "#lib/documents/records/favorites.ts";
import { requireUser } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { toHandler } from "#lib/http/handler.ts";
import { HttpResponse } from "#lib/http/response.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Reference 1.6, DELETE documents/{id}/mask/. */
export const route = defineRoute({
  service: documentsService,
  operationId: "unmaskDocument",
  method: "DELETE",
  path: "/documents/{id}/mask",
  summary: "Unmask a document",
  tag: "Documents",
  auth: "required",
  throttle: "document",
  params: documentParams,
  status: 204,
  response: z.void(),
  errors: [403],
  run: async ({ params, request }, deps: Deps) => {
    const changed = await setMasked(deps, await requireUser(deps, request), params.id, false);
    return changed
      ? undefined
      : new HttpResponse({ detail: "Document was already not masked" }, { status: 200 });
  },
});

export const handler = toHandler(route, openDeps);
