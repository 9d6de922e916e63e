import { type Deps, openDeps } from "#lib/app/aws.ts";
import { documentParams } from "#lib/documents/fields.ts";
import { can } from "#lib/documents/requests/can.ts";
import { resolveViewer } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { commentBody } from "#lib/documents/threads/body.ts";
import { threadRecord } from "#lib/documents/threads/record.ts";
import { createThread } from "#lib/documents/threads/threads.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Reference 1.12, POST documents/{id}/threads/. */
export const route = defineRoute({
  service: documentsService,
  operationId: "createThread",
  method: "POST",
  path: "/documents/{id}/threads",
  summary: "Create a thread with its first comment",
  tag: "Comments",
  auth: "optional",
  params: documentParams,
  body: commentBody,
  status: 201,
  response: threadRecord,
  errors: [403],
  before: can("comment"),
  run: async ({ params, body, request }, deps: Deps) =>
    createThread(deps, await resolveViewer(deps, request), params.id, body.body),
});

export const handler = toHandler(route, openDeps);
