import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { resolveViewer } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { threadParams } from "#lib/documents/threads/body.ts";
import { deleteThread } from "#lib/documents/threads/threads.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Reference 1.12, DELETE threads/{tid}/. */
export const route = defineRoute({
  service: documentsService,
  operationId: "deleteThread",
  method: "DELETE",
  path: "/documents/{id}/threads/{thread}",
  summary: "Delete a thread with its comments, as its creator or a manager of the document",
  tag: "Comments",
  auth: "optional",
  params: threadParams,
  status: 204,
  response: z.void(),
  errors: [403],
  run: async ({ params, request }, deps: Deps) =>
    deleteThread(deps, await resolveViewer(deps, request), params),
});

export const handler = toHandler(route, openDeps);
