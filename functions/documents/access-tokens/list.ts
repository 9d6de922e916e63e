import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { requireInstallationOwner } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { listTokens, tokenRecord } from "#lib/documents/users/tokens.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Called by `weft token list`. */
export const route = defineRoute({
  service: documentsService,
  operationId: "listAccessTokens",
  method: "GET",
  path: "/access-tokens",
  summary: "List all access tokens, oldest first, without the tokens themselves",
  tag: "Users",
  auth: "required",
  status: 200,
  response: z.object({ data: z.array(tokenRecord) }),
  errors: [403],
  run: async ({ request }, deps: Deps) => {
    requireInstallationOwner(request);
    return { data: await listTokens(deps) };
  },
});

export const handler = toHandler(route, openDeps);
