import { type Deps, openDeps } from "#lib/app/aws.ts";
import { can } from "#lib/documents/requests/can.ts";
import { requireUser } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { accessRecord } from "#lib/documents/sharing/access-record.ts";
import { updateAccess } from "#lib/documents/sharing/accesses.ts";
import { accessChangeBody, accessParams } from "#lib/documents/sharing/body.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Reference 1.9, PATCH documents/{id}/accesses/{accessId}/. */
export const route = defineRoute({
  service: documentsService,
  operationId: "updateAccess",
  method: "PATCH",
  path: "/documents/{id}/accesses/{accessId}",
  summary: "Change the role of an access; user and team cannot change",
  tag: "Sharing",
  auth: "required",
  throttle: "document_access",
  params: accessParams,
  body: accessChangeBody,
  status: 200,
  response: accessRecord,
  errors: [403],
  before: can("accesses_view"),
  run: async ({ params, body, request }, deps: Deps) => {
    const user = await requireUser(deps, request);
    const access = await updateAccess(deps, user, params.id, params.accessId, body);
    await deps.liveConnections.accessChanged(params.id);
    return access;
  },
});

export const handler = toHandler(route, openDeps);
