import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { documentParams } from "#lib/documents/fields.ts";
import { resolveViewer } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { listThreads } from "#lib/documents/threads/read.ts";
import { threadRecord } from "#lib/documents/threads/record.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Reference 1.12, GET documents/{id}/threads/. */
export const route = defineRoute({
  service: documentsService,
  operationId: "listThreads",
  method: "GET",
  path: "/documents/{id}/threads",
  summary: "List the threads of a document with their comments, newest first, including resolved ones",
  tag: "Comments",
  auth: "optional",
  params: documentParams,
  status: 200,
  response: z.array(threadRecord),
  errors: [403],
  run: async ({ params, request }, deps: Deps) =>
    listThreads(deps, await resolveViewer(deps, request), params.id),
});

export const handler = toHandler(route, openDeps);
