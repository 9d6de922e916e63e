import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { documentParams } from "#lib/documents/fields.ts";
import { findChildren, listChildren } from "#lib/documents/lists/children.ts";
import { listQuery } from "#lib/documents/lists/query.ts";
import { documentRecord, toDocument } from "#lib/documents/records/record.ts";
import { can } from "#lib/documents/requests/can.ts";
import { resolveViewer } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { toHandler } from "#lib/http/handler.ts";
import { numbered, numberedPage, numberedQuery, numberedResponse } from "#lib/http/numbered-pages.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Reference 1.3, GET documents/{id}/children/. */
export const route = defineRoute({
  service: documentsService,
  operationId: "listChildren",
  method: "GET",
  path: "/documents/{id}/children",
  summary: "List the children of a document, in order",
  tag: "Documents",
  auth: "optional",
  throttle: "document",
  params: documentParams,
  query: z.object({ ...numberedQuery, title: listQuery.title, q: listQuery.q }),
  status: 200,
  response: numbered(documentRecord),
  errors: [403],
  before: can("children_list"),
  run: async ({ params, query, request }, deps: Deps) => {
    const viewer = await resolveViewer(deps, request);
    const { title, q } = query;
    const page = numberedPage(query);
    const { count, children } = await (title || q
      ? findChildren(deps, viewer, params.id, { ...page, title, q })
      : listChildren(deps, viewer, params.id, page));
    return numberedResponse(request, query, { count, results: children.map(toDocument) });
  },
});

export const handler = toHandler(route, openDeps);
