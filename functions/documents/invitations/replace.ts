import { openDeps } from "#lib/app/aws.ts";
import { invitationBody } from "#lib/documents/sharing/invitation-record.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { route as update } from "./update.ts";

/** Reference 1.10, PUT documents/{id}/invitations/{invitation_id}/. */
export const route = defineRoute({
  ...update,
  operationId: "replaceInvitation",
  method: "PUT",
  body: invitationBody,
});

export const handler = toHandler(route, openDeps);
