import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { documentParams } from "#lib/documents/fields.ts";
import { leaveDocument } from "#lib/documents/records/leave.ts";
import { requireUser } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Reference 1.6, POST documents/{id}/leave/. */
export const route = defineRoute({
  service: documentsService,
  operationId: "leaveDocument",
  method: "POST",
  path: "/documents/{id}/leave",
  summary: "Remove the caller's access to a document and its descendants",
  tag: "Documents",
  auth: "required",
  throttle: "document",
  params: documentParams,
  status: 204,
  response: z.void(),
  errors: [403],
  run: async ({ params, request }, deps: Deps) =>
    leaveDocument(deps, await requireUser(deps, request), params.id),
});

export const handler = toHandler(route, openDeps);
