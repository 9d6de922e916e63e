import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { loginCookie, readLoginCookie, readSessionCookie } from "#lib/documents/login/browser-cookie.ts";
import { logOut } from "#lib/documents/login/log-out.ts";
import { browserSecret } from "#lib/documents/login/login-states.ts";
import { deletedSessionCookies } from "#lib/documents/login/session-cookies.ts";
import { documentsService } from "#lib/documents/service.ts";
import { ApiError } from "#lib/errors.ts";
import { toHandler } from "#lib/http/handler.ts";
import { redirectTo } from "#lib/http/response.ts";
import { defineRoute } from "#lib/http/route.ts";

/**
 * A form of this server's pages sends it, whose CSRF check is the `Origin` header: a form cannot send another header.
 * Reference 1.15, POST logout/.
 */
export const route = defineRoute({
  service: documentsService,
  operationId: "logOut",
  method: "POST",
  path: "/logout",
  summary: "End the browser's session, and redirect to the OpenID Connect provider to log out there",
  tag: "Login",
  auth: "none",
  status: 302,
  response: z.never(),
  errors: [403, 405],
  run: async ({ request }, deps: Deps) => {
    if (request.method === "POST" && request.headers.origin !== new URL(request.address()).origin)
      throw new ApiError("forbidden", "The Origin header must be that of this server.");
    const browser = browserSecret(readLoginCookie(request));
    const location = await logOut(deps, request, browser, readSessionCookie(request));
    const cookies = deletedSessionCookies(deps, request);
    return redirectTo(location, { cookies: [...cookies, loginCookie(request, browser)] });
  },
});

export const handler = toHandler(route, openDeps);
