import { type Deps, openDeps } from "#lib/app/aws.ts";
import { resolveViewer } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { commentParams } from "#lib/documents/threads/body.ts";
import { readComment } from "#lib/documents/threads/read.ts";
import { commentRecord } from "#lib/documents/threads/record.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Reference 1.12, GET threads/{tid}/comments/{cid}/. */
export const route = defineRoute({
  service: documentsService,
  operationId: "getComment",
  method: "GET",
  path: "/documents/{id}/threads/{thread}/comments/{comment}",
  summary: "Get a comment",
  tag: "Comments",
  auth: "optional",
  params: commentParams,
  status: 200,
  response: commentRecord,
  errors: [403],
  run: async ({ params, request }, deps: Deps) =>
    readComment(deps, await resolveViewer(deps, request), params),
});

export const handler = toHandler(route, openDeps);
