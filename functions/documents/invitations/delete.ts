import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { requireUser } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { invitationParams } from "#lib/documents/sharing/body.ts";
import { deleteInvitation } from "#lib/documents/sharing/invitations.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Reference 1.10, DELETE documents/{id}/invitations/{invitation_id}/. */
export const route = defineRoute({
  service: documentsService,
  operationId: "deleteInvitation",
  method: "DELETE",
  path: "/documents/{id}/invitations/{invitationId}",
  summary: "Delete an invitation",
  tag: "Sharing",
  auth: "required",
  throttle: "invitation",
  params: invitationParams,
  status: 204,
  response: z.void(),
  errors: [403],
  run: async ({ params, request }, deps: Deps) =>
    deleteInvitation(deps, await requireUser(deps, request), params.id, params.invitationId),
});

export const handler = toHandler(route, openDeps);
