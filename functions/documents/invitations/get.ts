import { type Deps, openDeps } from "#lib/app/aws.ts";
import { requireUser } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { invitationParams } from "#lib/documents/sharing/body.ts";
import { invitationRecord } from "#lib/documents/sharing/invitation-record.ts";
import { getInvitation } from "#lib/documents/sharing/invitations.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Reference 1.10, GET documents/{id}/invitations/{invitation_id}/. */
export const route = defineRoute({
  service: documentsService,
  operationId: "getInvitation",
  method: "GET",
  path: "/documents/{id}/invitations/{invitationId}",
  summary: "Get an invitation",
  tag: "Sharing",
  auth: "required",
  throttle: "invitation",
  params: invitationParams,
  status: 200,
  response: invitationRecord,
  errors: [403],
  run: async ({ params, request }, deps: Deps) =>
    getInvitation(deps, await requireUser(deps, request), params.id, params.invitationId),
});

export const handler = toHandler(route, openDeps);
