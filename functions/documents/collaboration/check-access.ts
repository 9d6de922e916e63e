import { type Deps, openDeps } from "#lib/app/aws.ts";
import { accessBody, accessRecord, readAbilities } from "#lib/collaboration/tickets.ts";
import { documentsService } from "#lib/documents/service.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** For the collaboration server. Choice: infra/decisions/0111. */
export const route = defineRoute({
  service: documentsService,
  operationId: "checkCollaborationAccess",
  method: "POST",
  path: "/collaboration/access",
  summary:
    "Check what a connected client may do now; for the collaboration server, with Y_PROVIDER_API_KEY or COLLABORATION_SERVER_SECRET",
  tag: "Collaboration",
  auth: "required",
  callers: ["service"],
  body: accessBody,
  status: 200,
  response: accessRecord,
  errors: [403],
  run: async ({ body }, deps: Deps) => ({ abilities: await readAbilities(deps, body) }),
});

export const handler = toHandler(route, openDeps);
