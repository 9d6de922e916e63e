import { type Deps, openDeps } from "#lib/app/aws.ts";
import { resolveViewer } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { threadParams } from "#lib/documents/threads/body.ts";
import { readThread } from "#lib/documents/threads/read.ts";
import { threadRecord } from "#lib/documents/threads/record.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Reference 1.12, GET threads/{tid}/. */
export const route = defineRoute({
  service: documentsService,
  operationId: "getThread",
  method: "GET",
  path: "/documents/{id}/threads/{thread}",
  summary: "Get a thread with its comments",
  tag: "Comments",
  auth: "optional",
  params: threadParams,
  status: 200,
  response: threadRecord,
  errors: [403],
  run: async ({ params, request }, deps: Deps) =>
    readThread(deps, await resolveViewer(deps, request), params),
});

export const handler = toHandler(route, openDeps);
