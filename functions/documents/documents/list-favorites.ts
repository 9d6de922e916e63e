import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { listFavorites } from "#lib/documents/lists/list-documents.ts";
import { documentRecord, toDocument } from "#lib/documents/records/record.ts";
import { requireUser } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { toHandler } from "#lib/http/handler.ts";
import { numbered, numberedPage, numberedQuery, numberedResponse } from "#lib/http/numbered-pages.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Seed: documents 3; reference 1.2, GET documents/favorite_list/. */
export const route = defineRoute({
  service: documentsService,
  operationId: "listFavorites",
  method: "GET",
  path: "/documents/favorite_list",
  summary: "List the caller's favorites, last updated first",
  tag: "Documents",
  auth: "required",
  throttle: "document",
  query: z.object({ ...numberedQuery }),
  status: 200,
  response: numbered(documentRecord),
  run: async ({ query, request }, deps: Deps) => {
    const asked = { ...query, ...numberedPage(query) };
    const { count, accesses } = await listFavorites(deps, await requireUser(deps, request), asked);
    return numberedResponse(request, query, { count, results: accesses.map(toDocument) });
  },
});

export const handler = toHandler(route, openDeps);
