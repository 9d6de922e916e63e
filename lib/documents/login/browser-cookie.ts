import { parseCookies, serializeCookie } from "../../http/cookies.ts";
import type { RequestInfo } from "../../http/route.ts";
import { endpointUrl } from "./endpoint-url.ts";
import { LOGIN_STATE_SECONDS } from "./login-states.ts";
import { SESSION_COOKIE } from "./session-id.ts";

type Request = Pick<RequestInfo, "address" | "headers">;

const isHttps = (request: Request): boolean => endpointUrl(request, "").protocol === "https:";

/**
 * The cookie with the browser's secret during a login or a logout at the provider. With the prefix, which needs HTTPS, a
 * site on another subdomain cannot set it and make the browser finish a login that the site has begun.
 */
const loginCookieName = (request: Request): string => (isHttps(request) ? "__Host-docs_login" : "docs_login");

export const readLoginCookie = (request: Request): string | undefined =>
  parseCookies(request.headers["cookie"]).get(loginCookieName(request));

export const readSessionCookie = ({ headers }: Request): string | undefined =>
  parseCookies(headers["cookie"]).get(SESSION_COOKIE);

/** Returns the `Set-Cookie` header of the browser's secret. Browsers send it when the provider sends them back. */
export const loginCookie = (request: Request, secret: string): string =>
  serializeCookie(loginCookieName(request), secret, {
    isSecure: isHttps(request),
    maxAgeSeconds: LOGIN_STATE_SECONDS,
  });
