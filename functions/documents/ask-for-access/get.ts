import { type Deps, openDeps } from "#lib/app/aws.ts";
import { requireUser } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { accessRequestRecord } from "#lib/documents/sharing/access-request-record.ts";
import { getAccessRequest } from "#lib/documents/sharing/access-requests.ts";
import { requestParams } from "#lib/documents/sharing/body.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Reference 1.11, GET documents/{id}/ask-for-access/{request_id}/. */
export const route = defineRoute({
  service: documentsService,
  operationId: "getAccessRequest",
  method: "GET",
  path: "/documents/{id}/ask-for-access/{requestId}",
  summary: "Get an access request",
  tag: "Sharing",
  auth: "required",
  throttle: "document_ask_for_access",
  params: requestParams,
  status: 200,
  response: accessRequestRecord,
  errors: [403],
  run: async ({ params, request }, deps: Deps) =>
    getAccessRequest(deps, await requireUser(deps, request), params.id, params.requestId),
});

export const handler = toHandler(route, openDeps);
