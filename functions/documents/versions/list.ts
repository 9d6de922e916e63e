import { type Deps, openDeps } from "#lib/app/aws.ts";
import {
  authorizeVersions,
  listVersions,
  versionsPage,
  versionsQuery,
} from "#lib/documents/content/versions.ts";
import { documentParams } from "#lib/documents/fields.ts";
import { resolveViewer } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Reference 1.7, GET documents/{id}/versions/. */
export const route = defineRoute({
  service: documentsService,
  operationId: "listVersions",
  method: "GET",
  path: "/documents/{id}/versions",
  summary: "List earlier versions of a document's content, saved since the caller got access",
  tag: "Content",
  auth: "optional",
  throttle: "document",
  params: documentParams,
  query: versionsQuery,
  status: 200,
  response: versionsPage,
  errors: [403],
  before: async ({ params, request }, deps: Deps) => {
    await authorizeVersions(deps, await resolveViewer(deps, request), params.id);
  },
  run: async ({ params, query, request }, deps: Deps) =>
    listVersions(deps, await resolveViewer(deps, request), params.id, query),
});

export const handler = toHandler(route, openDeps);
