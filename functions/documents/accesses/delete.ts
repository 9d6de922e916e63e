import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { requireUser } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { deleteAccess } from "#lib/documents/sharing/accesses.ts";
import { accessParams } from "#lib/documents/sharing/body.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Reference 1.9, DELETE documents/{id}/accesses/{accessId}/. */
export const route = defineRoute({
  service: documentsService,
  operationId: "deleteAccess",
  method: "DELETE",
  path: "/documents/{id}/accesses/{accessId}",
  summary: "Remove an access; a root keeps its last owner",
  tag: "Sharing",
  auth: "required",
  throttle: "document_access",
  params: accessParams,
  status: 204,
  response: z.void(),
  errors: [403],
  run: async ({ params, request }, deps: Deps) => {
    await deleteAccess(deps, await requireUser(deps, request), params.id, params.accessId);
    await deps.liveConnections.accessChanged(params.id);
  },
});

export const handler = toHandler(route, openDeps);
