import { type Deps, openDeps } from "#lib/app/aws.ts";
import { can } from "#lib/documents/requests/can.ts";
import { resolveViewer } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { commentChange, commentParams } from "#lib/documents/threads/body.ts";
import { updateComment } from "#lib/documents/threads/comments.ts";
import { commentRecord } from "#lib/documents/threads/record.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Reference 1.12, PATCH threads/{tid}/comments/{cid}/. */
export const route = defineRoute({
  service: documentsService,
  operationId: "updateComment",
  method: "PATCH",
  path: "/documents/{id}/threads/{thread}/comments/{comment}",
  summary: "Update a comment, as its author; without a body nothing is saved",
  tag: "Comments",
  auth: "optional",
  params: commentParams,
  body: commentChange,
  status: 200,
  response: commentRecord,
  errors: [403],
  before: can("comment"),
  run: async ({ params, body, request }, deps: Deps) =>
    updateComment(deps, await resolveViewer(deps, request), params, body.body),
});

export const handler = toHandler(route, openDeps);
