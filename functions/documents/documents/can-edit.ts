import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { authorize } from "#lib/documents/authorization/document-access.ts";
import { mayEdit } from "#lib/documents/connections/edit-lock.ts";
import { documentParams } from "#lib/documents/fields.ts";
import { resolveViewer } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Reference 1.7 and 4.5, GET documents/{id}/can-edit/. */
export const route = defineRoute({
  service: documentsService,
  operationId: "canEditDocument",
  method: "GET",
  path: "/documents/{id}/can-edit",
  summary: "Whether the caller may save without a connection to the collaboration server",
  tag: "Content",
  auth: "optional",
  throttle: "document",
  params: documentParams,
  status: 200,
  response: z.object({ can_edit: z.boolean() }),
  errors: [403],
  run: async ({ params, request }, deps: Deps) => {
    await authorize(deps, await resolveViewer(deps, request), params.id, "can_edit");
    return { can_edit: await mayEdit(deps, params.id, request) };
  },
});

export const handler = toHandler(route, openDeps);
