import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { beginLogin } from "#lib/documents/login/begin-login.ts";
import { loginCookie, readLoginCookie } from "#lib/documents/login/browser-cookie.ts";
import { browserSecret } from "#lib/documents/login/login-states.ts";
import { documentsService } from "#lib/documents/service.ts";
import { toHandler } from "#lib/http/handler.ts";
import { redirectTo } from "#lib/http/response.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Reference 1.15, GET authenticate/. */
export const route = defineRoute({
  service: documentsService,
  operationId: "beginLogin",
  method: "GET",
  path: "/authenticate",
  summary: "Redirect to the OpenID Connect provider to log in",
  tag: "Login",
  auth: "none",
  throttle: "login",
  query: z.object({ next: z.string().optional(), silent: z.string().optional() }),
  status: 302,
  response: z.never(),
  errors: [404, 429, 503],
  run: async ({ query, request }, deps: Deps) => {
    const browser = browserSecret(readLoginCookie(request));
    const isSilent = query.silent?.toLowerCase() === "true";
    const location = await beginLogin(deps, { request, browser, next: query.next, isSilent });
    return redirectTo(location, { cookies: [loginCookie(request, browser)] });
  },
});

export const handler = toHandler(route, openDeps);
