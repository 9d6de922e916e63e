import { type Deps, openDeps } from "#lib/app/aws.ts";
import { requireUser } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { accessRecord } from "#lib/documents/sharing/access-record.ts";
import { getAccess } from "#lib/documents/sharing/accesses.ts";
import { accessParams } from "#lib/documents/sharing/body.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Reference 1.9, GET documents/{id}/accesses/{accessId}/. */
export const route = defineRoute({
  service: documentsService,
  operationId: "getAccess",
  method: "GET",
  path: "/documents/{id}/accesses/{accessId}",
  summary: "Get an access of a document",
  tag: "Sharing",
  auth: "required",
  throttle: "document_access",
  params: accessParams,
  status: 200,
  response: accessRecord,
  errors: [403],
  run: async ({ params, request }, deps: Deps) =>
    getAccess(deps, await requireUser(deps, request), params.id, params.accessId),
});

export const handler = toHandler(route, openDeps);
