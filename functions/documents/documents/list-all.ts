import { type Deps, openDeps } from "#lib/app/aws.ts";
import { listAll } from "#lib/documents/lists/list-documents.ts";
import { toDocument } from "#lib/documents/records/record.ts";
import { resolveViewer } from "#lib/documents/requests/viewer.ts";
import { ApiError } from "#lib/errors.ts";
import { toHandler } from "#lib/http/handler.ts";
import { numberedPage, numberedResponse } from "#lib/http/numbered-pages.ts";
import { defineRoute } from "#lib/http/route.ts";
import { route as list } from "./list.ts";

/** Reference 1.2, GET documents/all/. */
export const route = defineRoute({
  ...list,
  operationId: "listAllDocuments",
  path: "/documents/all",
  summary: "List all documents that the caller can reach, with descendants",
  run: async ({ query, request }, deps: Deps) => {
    if (!deps.documents.allEndpointEnabled) throw new ApiError("not_found", "Not found.");
    const asked = { ...query, ...numberedPage(query) };
    const { count, accesses } = await listAll(deps, await resolveViewer(deps, request), asked);
    return numberedResponse(request, query, { count, results: accesses.map(toDocument) });
  },
});

export const handler = toHandler(route, openDeps);
