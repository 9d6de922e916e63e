import { type Deps, openDeps } from "#lib/app/aws.ts";
import { redeemBody, redeemTicket, redemptionRecord } from "#lib/collaboration/tickets.ts";
import { documentsService } from "#lib/documents/service.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** For the collaboration server. Choice: infra/decisions/0111. */
export const route = defineRoute({
  service: documentsService,
  operationId: "redeemCollaborationTicket",
  method: "POST",
  path: "/collaboration/tickets/redeem",
  summary:
    "Redeem a ticket; for the collaboration server, with Y_PROVIDER_API_KEY or COLLABORATION_SERVER_SECRET",
  tag: "Collaboration",
  auth: "required",
  callers: ["service"],
  body: redeemBody,
  status: 200,
  response: redemptionRecord,
  errors: [403],
  run: ({ body }, deps: Deps) => redeemTicket(deps, body),
});

export const handler = toHandler(route, openDeps);
