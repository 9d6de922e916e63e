import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { readLoginCookie } from "#lib/documents/login/browser-cookie.ts";
import { finishLogout } from "#lib/documents/login/log-out.ts";
import { documentsService } from "#lib/documents/service.ts";
import { toHandler } from "#lib/http/handler.ts";
import { redirectTo } from "#lib/http/response.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Reference 1.15, GET logout-callback/. */
export const route = defineRoute({
  service: documentsService,
  operationId: "finishLogout",
  method: "GET",
  path: "/logout-callback",
  summary: "Finish a logout: the OpenID Connect provider redirects browsers here",
  tag: "Login",
  auth: "none",
  throttle: "login",
  query: z.object({ state: z.string().max(4096).optional() }),
  status: 302,
  response: z.never(),
  errors: [429],
  run: async ({ query, request }, deps: Deps) =>
    redirectTo(await finishLogout(deps, readLoginCookie(request), query.state)),
});

export const handler = toHandler(route, openDeps);
