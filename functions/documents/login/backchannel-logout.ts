import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { logOutByToken } from "#lib/documents/login/backchannel-logout.ts";
import { documentsService } from "#lib/documents/service.ts";
import { toHandler } from "#lib/http/handler.ts";
import { HttpResponse } from "#lib/http/response.ts";
import { defineRoute, type RawBody } from "#lib/http/route.ts";

/** Reference 1.15, POST backchannel-logout/. */
export const route = defineRoute({
  service: documentsService,
  operationId: "logOutByToken",
  method: "POST",
  path: "/backchannel-logout",
  summary: "End the sessions that a logout token of the OpenID Connect provider names",
  tag: "Login",
  auth: "none",
  body: z.custom<RawBody>(),
  bodyKind: "raw",
  bodyTypes: ["application/x-www-form-urlencoded"],
  bodyLimitBytes: 64 * 1024,
  status: 200,
  response: z.never(),
  errors: [404, 413, 503],
  run: async ({ body }, deps: Deps) => {
    const tokens = new URLSearchParams(body.text).getAll("logout_token");
    await logOutByToken(deps, tokens.length === 1 ? tokens[0] : undefined);
    return new HttpResponse("", { contentType: "text/plain; charset=utf-8" });
  },
});

export const handler = toHandler(route, openDeps);
