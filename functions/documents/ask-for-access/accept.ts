import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { can } from "#lib/documents/requests/can.ts";
import { requireUser } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { acceptRequestBody } from "#lib/documents/sharing/access-request-record.ts";
import { acceptAccessRequest } from "#lib/documents/sharing/access-requests.ts";
import { requestParams } from "#lib/documents/sharing/body.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Reference 1.11, POST documents/{id}/ask-for-access/{request_id}/accept/. */
export const route = defineRoute({
  service: documentsService,
  operationId: "acceptAccessRequest",
  method: "POST",
  path: "/documents/{id}/ask-for-access/{requestId}/accept",
  summary: "Accept an access request, with the requested role or another one",
  tag: "Sharing",
  auth: "required",
  throttle: "document_ask_for_access",
  params: requestParams,
  body: acceptRequestBody,
  status: 204,
  response: z.void(),
  errors: [403],
  before: can("accesses_manage"),
  run: async ({ params, body, request }, deps: Deps) =>
    acceptAccessRequest(
      deps,
      await requireUser(deps, request),
      params.id,
      params.requestId,
      body.role ?? null,
    ),
});

export const handler = toHandler(route, openDeps);
