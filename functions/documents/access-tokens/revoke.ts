import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { requireInstallationOwner } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { revokeToken } from "#lib/documents/users/tokens.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Called by `weft token revoke`. */
export const route = defineRoute({
  service: documentsService,
  operationId: "revokeAccessToken",
  method: "DELETE",
  path: "/access-tokens/{id}",
  summary: "Revoke an access token, effective immediately",
  tag: "Users",
  auth: "required",
  params: z.object({ id: z.guid() }),
  status: 204,
  response: z.void(),
  errors: [403],
  run: async ({ params, request }, deps: Deps) => {
    requireInstallationOwner(request);
    await revokeToken(deps, params.id);
  },
});

export const handler = toHandler(route, openDeps);
