import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { resolveViewer } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { commentParams } from "#lib/documents/threads/body.ts";
import { deleteComment } from "#lib/documents/threads/comments.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Reference 1.12, DELETE threads/{tid}/comments/{cid}/. */
export const route = defineRoute({
  service: documentsService,
  operationId: "deleteComment",
  method: "DELETE",
  path: "/documents/{id}/threads/{thread}/comments/{comment}",
  summary: "Delete a comment, as its author or a manager of the document",
  tag: "Comments",
  auth: "optional",
  params: commentParams,
  status: 204,
  response: z.void(),
  errors: [403],
  run: async ({ params, request }, deps: Deps) =>
    deleteComment(deps, await resolveViewer(deps, request), params),
});

export const handler = toHandler(route, openDeps);
