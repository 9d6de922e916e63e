import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { documentParams } from "#lib/documents/fields.ts";
import { requireUser } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { invitationRecord } from "#lib/documents/sharing/invitation-record.ts";
import { listInvitations } from "#lib/documents/sharing/invitations.ts";
import { toHandler } from "#lib/http/handler.ts";
import { numbered, numberedPage, numberedQuery, numberedResponse } from "#lib/http/numbered-pages.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Reference 1.10, GET documents/{id}/invitations/. */
export const route = defineRoute({
  service: documentsService,
  operationId: "listInvitations",
  method: "GET",
  path: "/documents/{id}/invitations",
  summary: "List the open invitations to a document, latest first",
  tag: "Sharing",
  auth: "required",
  throttle: "invitation",
  params: documentParams,
  query: z.object(numberedQuery),
  status: 200,
  response: numbered(invitationRecord),
  errors: [403],
  run: async ({ params, query, request }, deps: Deps) => {
    const viewer = await requireUser(deps, request);
    return numberedResponse(
      request,
      query,
      await listInvitations(deps, viewer, params.id, numberedPage(query)),
    );
  },
});

export const handler = toHandler(route, openDeps);
