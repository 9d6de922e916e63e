import { type Deps, openDeps } from "#lib/app/aws.ts";
import { can } from "#lib/documents/requests/can.ts";
import { resolveViewer } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { commentBody, threadParams } from "#lib/documents/threads/body.ts";
import { createComment } from "#lib/documents/threads/comments.ts";
import { commentRecord } from "#lib/documents/threads/record.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Reference 1.12, POST threads/{tid}/comments/. */
export const route = defineRoute({
  service: documentsService,
  operationId: "createComment",
  method: "POST",
  path: "/documents/{id}/threads/{thread}/comments",
  summary: "Add a comment to a thread",
  tag: "Comments",
  auth: "optional",
  params: threadParams,
  body: commentBody,
  status: 201,
  response: commentRecord,
  errors: [403],
  before: can("comment"),
  run: async ({ params, body, request }, deps: Deps) =>
    createComment(deps, await resolveViewer(deps, request), params, body.body),
});

export const handler = toHandler(route, openDeps);
