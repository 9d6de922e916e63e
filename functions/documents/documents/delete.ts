import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { documentParams } from "#lib/documents/fields.ts";
import { deleteDocument } from "#lib/documents/records/delete.ts";
import { resolveViewer } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Reference 1.2, 3.1, DELETE documents/{id}/. */
export const route = defineRoute({
  service: documentsService,
  operationId: "deleteDocument",
  method: "DELETE",
  path: "/documents/{id}",
  summary: "Move a document and its descendants to the trash",
  tag: "Documents",
  auth: "optional",
  throttle: "document",
  params: documentParams,
  status: 204,
  response: z.void(),
  errors: [403],
  run: async ({ params, request }, deps: Deps) =>
    deleteDocument(deps, await resolveViewer(deps, request), params.id),
});

export const handler = toHandler(route, openDeps);
