import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { readLoginCookie, readSessionCookie } from "#lib/documents/login/browser-cookie.ts";
import { finishLogin } from "#lib/documents/login/finish-login.ts";
import { startSession } from "#lib/documents/login/sessions.ts";
import { documentsService } from "#lib/documents/service.ts";
import { toHandler } from "#lib/http/handler.ts";
import { redirectTo } from "#lib/http/response.ts";
import { defineRoute } from "#lib/http/route.ts";

const parameter = z.string().max(4096).optional();

/** Reference 1.15, GET callback/. */
export const route = defineRoute({
  service: documentsService,
  operationId: "finishLogin",
  method: "GET",
  path: "/callback",
  summary: "Finish a login: the OpenID Connect provider redirects browsers here",
  tag: "Login",
  auth: "none",
  throttle: "login",
  query: z.object({
    code: parameter,
    state: parameter,
    iss: parameter,
    error: parameter,
    error_description: parameter,
  }),
  status: 302,
  response: z.never(),
  errors: [404, 429],
  run: async ({ query, request }, deps: Deps) => {
    const { location, login } = await finishLogin(deps, request, readLoginCookie(request), query);
    if (login === undefined) return redirectTo(location);
    const { user, ...options } = login;
    const previousSessionId = readSessionCookie(request);
    const { setCookies } = await startSession(deps, user, { request, previousSessionId, ...options });
    return redirectTo(location, { cookies: setCookies });
  },
});

export const handler = toHandler(route, openDeps);
