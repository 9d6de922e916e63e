import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { documentParams } from "#lib/documents/fields.ts";
import { requireUser } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { accessRequestBody } from "#lib/documents/sharing/access-request-record.ts";
import { requestAccess } from "#lib/documents/sharing/access-requests.ts";
import { toHandler } from "#lib/http/handler.ts";
import { HttpResponse } from "#lib/http/response.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Reference 1.11, POST documents/{id}/ask-for-access/: the response is empty. */
export const route = defineRoute({
  service: documentsService,
  operationId: "askForAccess",
  method: "POST",
  path: "/documents/{id}/ask-for-access",
  summary: "Request a role on a root; its owners and administrators get an email",
  tag: "Sharing",
  auth: "required",
  throttle: "document_ask_for_access",
  params: documentParams,
  body: accessRequestBody,
  status: 201,
  response: z.void(),
  errors: [403],
  run: async ({ params, body, request }, deps: Deps) => {
    await requestAccess(deps, await requireUser(deps, request), params.id, body.role);
    return new HttpResponse("", { contentType: "text/plain; charset=utf-8" });
  },
});

export const handler = toHandler(route, openDeps);
