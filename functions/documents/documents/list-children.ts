import * as z from "zod";
import { type Deps, openDeps } from "#lib/deps.ts";
import { documentParams } from "#lib/documents/documents/body.ts";
import { listChildren } from "#lib/documents/documents/children.ts";
import { documentRecord, toDocument } from "#lib/documents/documents/record.ts";
import { viewerOf } from "#lib/documents/users/viewer.ts";
import { toHandler } from "#lib/http/handler.ts";
import { numbered, numberedAnswer, numberedPage, numberedQuery } from "#lib/http/numbered-pages.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Reference 1.3, GET documents/{id}/children/. */
export const route = defineRoute({
  service: "documents",
  operationId: "listChildren",
  method: "GET",
  path: "/documents/{id}/children",
  summary: "Children of a document, in their order",
  tag: "Documents",
  auth: "optional",
  throttle: "document",
  params: documentParams,
  query: z.object(numberedQuery),
  status: 200,
  response: numbered(documentRecord),
  errors: [403],
  run: async ({ params, query, request }, deps: Deps) => {
    const viewer = await viewerOf(deps, request);
    const { count, children } = await listChildren(deps, viewer, params.id, numberedPage(query));
    return numberedAnswer(request, query, { count, results: children.map(toDocument) });
  },
});

export const handler = toHandler(route, openDeps);
