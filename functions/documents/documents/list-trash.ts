import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { listTrash } from "#lib/documents/lists/list-documents.ts";
import { trashQuery } from "#lib/documents/lists/query.ts";
import { documentRecord, toDocument } from "#lib/documents/records/record.ts";
import { resolveViewer } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { toHandler } from "#lib/http/handler.ts";
import { numbered, numberedPage, numberedQuery, numberedResponse } from "#lib/http/numbered-pages.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Reference 1.2, GET documents/trashbin/. */
export const route = defineRoute({
  service: documentsService,
  operationId: "listTrash",
  method: "GET",
  path: "/documents/trashbin",
  summary: "List deleted documents that the caller can restore",
  tag: "Documents",
  auth: "optional",
  throttle: "document",
  query: z.object({ ...numberedQuery, ...trashQuery }),
  status: 200,
  response: numbered(documentRecord),
  run: async ({ query, request }, deps: Deps) => {
    const asked = { ...query, ...numberedPage(query) };
    const { count, accesses } = await listTrash(deps, await resolveViewer(deps, request), asked);
    return numberedResponse(request, query, { count, results: accesses.map(toDocument) });
  },
});

export const handler = toHandler(route, openDeps);
