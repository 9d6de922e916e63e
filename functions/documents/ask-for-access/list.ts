import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { documentParams } from "#lib/documents/fields.ts";
import { requireUser } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { accessRequestRecord } from "#lib/documents/sharing/access-request-record.ts";
import { listAccessRequests } from "#lib/documents/sharing/access-requests.ts";
import { toHandler } from "#lib/http/handler.ts";
import { numbered, numberedPage, numberedQuery, numberedResponse } from "#lib/http/numbered-pages.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Reference 1.11, GET documents/{id}/ask-for-access/. */
export const route = defineRoute({
  service: documentsService,
  operationId: "listAccessRequests",
  method: "GET",
  path: "/documents/{id}/ask-for-access",
  summary:
    "List the access requests for a root: all for its administrators and owners, otherwise the caller's own",
  tag: "Sharing",
  auth: "required",
  throttle: "document_ask_for_access",
  params: documentParams,
  query: z.object(numberedQuery),
  status: 200,
  response: numbered(accessRequestRecord),
  errors: [403],
  run: async ({ params, query, request }, deps: Deps) => {
    const viewer = await requireUser(deps, request);
    return numberedResponse(
      request,
      query,
      await listAccessRequests(deps, viewer, params.id, numberedPage(query)),
    );
  },
});

export const handler = toHandler(route, openDeps);
