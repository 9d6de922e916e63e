import * as z from "zod";
import { type DocumentDeps, openDocumentDeps } from "#lib/app/aws.ts";
import { documentParams } from "#lib/documents/fields.ts";
import { pollResponse } from "#lib/documents/live-requests/long-poll.ts";
import { updatesQuery } from "#lib/documents/live-requests/read-updates.ts";
import { documentsService } from "#lib/documents/service.ts";
import { callerOf } from "#lib/http/caller.ts";
import type { FileResponse } from "#lib/http/file-response.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** For a separate collaboration server, which checks the access of its clients itself. Choice: infra/decisions/0111. */
export const route = defineRoute({
  service: documentsService,
  operationId: "getRoomUpdates",
  method: "GET",
  path: "/collaboration/documents/{id}/updates",
  summary:
    "Get the content of a document, or wait for updates after a position; for a separate collaboration server",
  tag: "Collaboration",
  auth: "required",
  callers: ["service"],
  params: documentParams,
  query: updatesQuery,
  status: 200,
  response: z.custom<FileResponse>(),
  fileTypes: ["application/json"],
  errors: [403, 412],
  timeoutSeconds: 60,
  memoryMb: 1024,
  run: async ({ params: { id }, query, request }, deps: DocumentDeps): Promise<FileResponse> => {
    const { generation, position, state_vector: stateVector, wait = 0, awareness_tag: awarenessTag } = query;
    // Each document is a caller of its own: the limit of one caller is far below the number of rooms.
    const caller = `collaboration ${id}`;
    return pollResponse(deps, {
      document: id,
      caller,
      generation,
      position,
      stateVector,
      waitMs: wait * 1000,
      awarenessTag,
      awarenessOwner: callerOf(request),
    });
  },
});

export const handler = toHandler(route, openDocumentDeps);
