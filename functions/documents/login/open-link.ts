import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { htmlPageHeaders } from "#lib/documents/html-page.ts";
import { readSessionCookie } from "#lib/documents/login/browser-cookie.ts";
import { findLoginLink, LOGIN_PATH, takeLoginLink } from "#lib/documents/login/login-links.ts";
import { askPage, INVALID_LINK_PAGE, NO_LINK_PAGE } from "#lib/documents/login/login-page.ts";
import { checkRedirectTarget } from "#lib/documents/login/redirect-target.ts";
import { startSession } from "#lib/documents/login/sessions.ts";
import { loginService } from "#lib/documents/service.ts";
import { toHandler } from "#lib/http/handler.ts";
import { HttpResponse, redirect } from "#lib/http/response.ts";
import { defineRoute, type RequestInfo } from "#lib/http/route.ts";

/**
 * The link of the owner signs in at once. Others are sent to people, and programs open links in messages to preview
 * them: the page of such a link asks first.
 */
export const route = defineRoute({
  service: loginService,
  operationId: "openLoginLink",
  method: "GET",
  path: LOGIN_PATH,
  summary: "Open a one-time login link in a browser",
  tag: "Login",
  auth: "none",
  includeInSchema: false,
  throttle: "login",
  query: z.object({
    token: z.string().optional(),
    next: z.string().optional(),
  }),
  status: 200,
  response: z.unknown(),
  errors: [403, 429],
  run: async ({ query: { token, next }, request }, deps: Deps) => {
    const location = targetOf(deps, request, next);
    if (token === undefined) return loginPage(NO_LINK_PAGE);
    const link = await findLoginLink(deps, token);
    if (link === undefined) return invalidLink();
    // HEAD, too, only asks.
    if (!link.asks && request.method === "GET") return signIn(deps, request, { token, location });
    return loginPage(askPage(link.user.email ?? link.user.id, token, next), { target: location });
  },
});

const loginPage = (
  html: string,
  { status = 200, target }: { readonly status?: 200 | 403; readonly target?: string | URL } = {},
): HttpResponse =>
  new HttpResponse(html, {
    status,
    contentType: "text/html; charset=utf-8",
    headers: htmlPageHeaders(target),
  });

const invalidLink = (): HttpResponse => loginPage(INVALID_LINK_PAGE, { status: 403 });

/** Returns where a login leads. Throws `bad_request` naming `next`. */
export function targetOf(deps: Deps, request: RequestInfo, next: string | undefined): string | URL {
  const { login } = deps.documents;
  if (next !== undefined && next !== "")
    return toLocation(checkRedirectTarget(login, new URL(request.address()), next));
  // By default the web interface.
  return toLocation(login.redirectUrl === "/" ? `${deps.publicUrl ?? ""}/` : login.redirectUrl);
}

const toLocation = (target: string): string | URL => (target.startsWith("/") ? target : new URL(target));

/** Uses a link up, starts a session that replaces the browser's, and redirects. */
export async function signIn(
  deps: Deps,
  request: RequestInfo,
  { token, location }: { readonly token: string; readonly location: string | URL },
): Promise<HttpResponse> {
  const link = await takeLoginLink(deps, token);
  if (link === undefined) return invalidLink();
  const { setCookies } = await startSession(deps, link.user, {
    request,
    scopes: link.scopes,
    previousSessionId: readSessionCookie(request),
  });
  return redirect(303, location, { cookies: setCookies, headers: { "referrer-policy": "no-referrer" } });
}

export const handler = toHandler(route, openDeps);
