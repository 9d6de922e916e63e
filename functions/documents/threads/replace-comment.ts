import { openDeps } from "#lib/app/aws.ts";
import { commentBody } from "#lib/documents/threads/body.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { route as update } from "./update-comment.ts";

/** Reference 1.12, PUT threads/{tid}/comments/{cid}/. */
export const route = defineRoute({
  ...update,
  operationId: "replaceComment",
  method: "PUT",
  summary: "Update a comment, as its author",
  body: commentBody,
});

export const handler = toHandler(route, openDeps);
