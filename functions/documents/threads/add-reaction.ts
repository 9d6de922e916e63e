import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { can } from "#lib/documents/requests/can.ts";
import { resolveViewer } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { commentParams, reactionBody } from "#lib/documents/threads/body.ts";
import { addReaction } from "#lib/documents/threads/reactions.ts";
import { toHandler } from "#lib/http/handler.ts";
import { HttpResponse } from "#lib/http/response.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Reference 1.12, POST threads/{tid}/comments/{cid}/reactions/. */
export const route = defineRoute({
  service: documentsService,
  operationId: "addReaction",
  method: "POST",
  path: "/documents/{id}/threads/{thread}/comments/{comment}/reactions",
  summary: "React to a comment with an emoji",
  tag: "Comments",
  auth: "optional",
  params: commentParams,
  body: reactionBody,
  status: 201,
  response: z.void(),
  errors: [403],
  before: can("comment"),
  run: async ({ params, body, request }, deps: Deps) => {
    await addReaction(deps, await resolveViewer(deps, request), params, body.emoji);
    return new HttpResponse("", { contentType: "application/json; charset=utf-8" });
  },
});

export const handler = toHandler(route, openDeps);
