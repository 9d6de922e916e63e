import * as z from "zod";
import { type DocumentDeps, openDocumentDeps } from "#lib/app/aws.ts";
import { changesQuery, readChanges } from "#lib/collaboration/changes.ts";
import { DeferredText } from "#lib/documents/live-requests/deferred-text.ts";
import { documentsService } from "#lib/documents/service.ts";
import type { FileResponse } from "#lib/http/file-response.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** For a separate collaboration server, which has no change feed. Choice: infra/decisions/0111. */
export const route = defineRoute({
  service: documentsService,
  operationId: "getCollaborationChanges",
  method: "GET",
  path: "/collaboration/changes",
  summary:
    "Wait for changes of documents, roles, sessions and tokens; for a separate collaboration server, with Y_PROVIDER_API_KEY or COLLABORATION_SERVER_SECRET",
  tag: "Collaboration",
  auth: "required",
  callers: ["service"],
  query: changesQuery,
  status: 200,
  response: z.custom<FileResponse>(),
  fileTypes: ["application/json"],
  errors: [403],
  timeoutSeconds: 60,
  run: async ({ query }, deps: DocumentDeps): Promise<FileResponse> => {
    const read = async (signal: AbortSignal) => {
      const seat = deps.liveRequests.take("changes", "collaboration changes");
      try {
        return JSON.stringify(await readChanges(deps, query, AbortSignal.any([signal, seat.stopping])));
      } finally {
        seat.release();
      }
    };
    return { type: "application/json; charset=utf-8", content: new DeferredText(read) };
  },
});

export const handler = toHandler(route, openDocumentDeps);
