import { type Deps, openDeps } from "#lib/app/aws.ts";
import { can } from "#lib/documents/requests/can.ts";
import { requireUser } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { invitationParams } from "#lib/documents/sharing/body.ts";
import { invitationChangeBody, invitationRecord } from "#lib/documents/sharing/invitation-record.ts";
import { updateInvitation } from "#lib/documents/sharing/invitations.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Reference 1.10, PATCH documents/{id}/invitations/{invitation_id}/. */
export const route = defineRoute({
  service: documentsService,
  operationId: "updateInvitation",
  method: "PATCH",
  path: "/documents/{id}/invitations/{invitationId}",
  summary: "Update the role or email address of an invitation",
  tag: "Sharing",
  auth: "required",
  throttle: "invitation",
  params: invitationParams,
  body: invitationChangeBody,
  status: 200,
  response: invitationRecord,
  errors: [403],
  before: can("accesses_manage"),
  run: async ({ params, body, request }, deps: Deps) =>
    updateInvitation(deps, await requireUser(deps, request), params.id, params.invitationId, body),
});

export const handler = toHandler(route, openDeps);
