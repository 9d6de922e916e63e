import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { can } from "#lib/documents/requests/can.ts";
import { resolveViewer } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { commentParams, reactionBody } from "#lib/documents/threads/body.ts";
import { removeReaction } from "#lib/documents/threads/reactions.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Reference 1.12, DELETE threads/{tid}/comments/{cid}/reactions/. */
export const route = defineRoute({
  service: documentsService,
  operationId: "removeReaction",
  method: "DELETE",
  path: "/documents/{id}/threads/{thread}/comments/{comment}/reactions",
  summary: "Remove a reaction",
  tag: "Comments",
  auth: "optional",
  params: commentParams,
  body: reactionBody,
  status: 204,
  response: z.void(),
  errors: [403],
  before: can("comment"),
  run: async ({ params, body, request }, deps: Deps) =>
    removeReaction(deps, await resolveViewer(deps, request), params, body.emoji),
});

export const handler = toHandler(route, openDeps);
