import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { resolveViewer } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { threadParams } from "#lib/documents/threads/body.ts";
import { listComments } from "#lib/documents/threads/read.ts";
import { commentRecord } from "#lib/documents/threads/record.ts";
import { toHandler } from "#lib/http/handler.ts";
import { numbered, numberedPage, numberedQuery, numberedResponse } from "#lib/http/numbered-pages.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Reference 1.12, GET threads/{tid}/comments/. */
export const route = defineRoute({
  service: documentsService,
  operationId: "listComments",
  method: "GET",
  path: "/documents/{id}/threads/{thread}/comments",
  summary: "List the comments of a thread, oldest first",
  tag: "Comments",
  auth: "optional",
  params: threadParams,
  query: z.object(numberedQuery),
  status: 200,
  response: numbered(commentRecord),
  errors: [403],
  run: async ({ params, query, request }, deps: Deps) => {
    const viewer = await resolveViewer(deps, request);
    return numberedResponse(request, query, await listComments(deps, viewer, params, numberedPage(query)));
  },
});

export const handler = toHandler(route, openDeps);
