import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { keySetOf } from "#lib/documents/configuration/key-set.ts";
import { documentsService } from "#lib/documents/service.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Seed: documents 5.4, JWKS; reference 1.15. */
export const route = defineRoute({
  service: documentsService,
  operationId: "getKeySet",
  method: "GET",
  path: "/jwks",
  summary: "Get the public key that encrypts tokens for this service, if configured",
  tag: "Configuration",
  auth: "none",
  status: 200,
  response: z
    .object({
      keys: z.array(z.looseObject({ kty: z.string(), kid: z.string() })).readonly(),
    })
    .meta({ id: "KeySet" }),
  run: (_input, deps: Deps) => keySetOf(deps),
});

export const handler = toHandler(route, openDeps);
