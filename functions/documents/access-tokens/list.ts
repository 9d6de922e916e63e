import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { requireInstallationOwner } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { listTokens, tokenRecord } from "#lib/documents/users/tokens.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** What `weft token list` shows. */
export const route = defineRoute({
  service: documentsService,
  operationId: "listAccessTokens",
  method: "GET",
  path: "/access-tokens",
  summary: "All access tokens, oldest first, without what they are",
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
