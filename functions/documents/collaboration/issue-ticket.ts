import { type DocumentDeps, openDocumentDeps } from "#lib/app/aws.ts";
import { issueTicket, ticketRecord } from "#lib/collaboration/tickets.ts";
import { documentParams } from "#lib/documents/fields.ts";
import { resolveViewer } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Choice: infra/decisions/0111. */
export const route = defineRoute({
  service: documentsService,
  operationId: "issueCollaborationTicket",
  method: "POST",
  path: "/documents/{id}/collaboration-ticket",
  summary:
    "Get a ticket for one connection to the collaboration server, valid for a minute; the token of the Hocuspocus provider is `{generation}:{ticket}`",
  tag: "Collaboration",
  auth: "optional",
  throttle: "document",
  params: documentParams,
  status: 201,
  response: ticketRecord,
  errors: [403],
  run: async ({ params, request }, deps: DocumentDeps) =>
    issueTicket(deps, await resolveViewer(deps, request), request.principal, params.id),
});

export const handler = toHandler(route, openDocumentDeps);
