import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { requireInstallationOwner } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { createToken, tokenBody, tokenRecord } from "#lib/documents/users/tokens.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Called by `weft token create`. */
export const route = defineRoute({
  service: documentsService,
  operationId: "createAccessToken",
  method: "POST",
  path: "/access-tokens",
  summary: "Create an access token, and its user if necessary; the token is shown only once",
  tag: "Users",
  auth: "required",
  body: tokenBody,
  status: 201,
  response: z.object({ token: z.string(), data: tokenRecord }),
  errors: [403, 409, 429],
  run: async ({ body, request }, deps: Deps) => {
    requireInstallationOwner(request);
    const { token, record } = await createToken(deps, body);
    return { token, data: record };
  },
});

export const handler = toHandler(route, openDeps);
