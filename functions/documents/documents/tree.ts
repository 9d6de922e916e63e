import { type Deps, openDeps } from "#lib/app/aws.ts";
import { documentParams } from "#lib/documents/fields.ts";
import { toTree, treeNode } from "#lib/documents/records/record.ts";
import { readTree } from "#lib/documents/records/tree.ts";
import { resolveViewer } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Reference 1.3, GET documents/{id}/tree/. */
export const route = defineRoute({
  service: documentsService,
  operationId: "getDocumentTree",
  method: "GET",
  path: "/documents/{id}/tree",
  summary: "Get the tree around a document, from the topmost ancestor that the caller may read",
  tag: "Documents",
  auth: "optional",
  throttle: "document",
  params: documentParams,
  status: 200,
  response: treeNode,
  errors: [403],
  run: async ({ params, request }, deps: Deps) =>
    toTree(await readTree(deps, await resolveViewer(deps, request), params.id)),
});

export const handler = toHandler(route, openDeps);
