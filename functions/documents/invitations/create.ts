import { type Deps, openDeps } from "#lib/app/aws.ts";
import { documentParams } from "#lib/documents/fields.ts";
import { can } from "#lib/documents/requests/can.ts";
import { requireUser } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { invitationBody, invitationRecord } from "#lib/documents/sharing/invitation-record.ts";
import { createInvitation } from "#lib/documents/sharing/invitations.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Reference 1.10, POST documents/{id}/invitations/. */
export const route = defineRoute({
  service: documentsService,
  operationId: "createInvitation",
  method: "POST",
  path: "/documents/{id}/invitations",
  summary: "Invite an email address to a document; it gets an email",
  tag: "Sharing",
  auth: "required",
  throttle: "invitation",
  params: documentParams,
  body: invitationBody,
  status: 201,
  response: invitationRecord,
  errors: [403],
  before: can("accesses_manage"),
  run: async ({ params, body, request }, deps: Deps) =>
    createInvitation(deps, await requireUser(deps, request), params.id, body),
});

export const handler = toHandler(route, openDeps);
