import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { listAll } from "#lib/documents/lists/list-documents.ts";
import { listQuery } from "#lib/documents/lists/query.ts";
import { documentRecord, toDocument } from "#lib/documents/records/record.ts";
import { resolveViewer } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { ApiError } from "#lib/errors.ts";
import { toHandler } from "#lib/http/handler.ts";
import { numbered, numberedPage, numberedQuery, numberedResponse } from "#lib/http/numbered-pages.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Reference 1.2, GET documents/all/. */
export const route = defineRoute({
  service: documentsService,
  operationId: "listAllDocuments",
  method: "GET",
  path: "/documents/all",
  summary: "List all documents that the caller can reach, with descendants",
  tag: "Documents",
  auth: "optional",
  throttle: "document",
  query: z.object({ ...numberedQuery, ...listQuery }),
  status: 200,
  response: numbered(documentRecord),
  run: async ({ query, request }, deps: Deps) => {
    if (!deps.documents.allEndpointEnabled) throw new ApiError("not_found", "Not found.");
    const asked = { ...query, ...numberedPage(query) };
    const { count, accesses } = await listAll(deps, await resolveViewer(deps, request), asked);
    return numberedResponse(request, query, { count, results: accesses.map(toDocument) });
  },
});

export const handler = toHandler(route, openDeps);
