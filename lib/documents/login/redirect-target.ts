import { ApiError } from "../../errors.ts";
import type { LoginSettings } from "../../settings/oidc-login.ts";

/** Characters. */
const TARGET_MAX_LENGTH = 2000;
/** Characters that browsers remove from a URL or replace by slashes. */
const AMBIGUOUS = /[\s\\\p{Cc}]/u;

/**
 * Checks where a login may lead to: a path of this server, or a URL whose host is this server's or in
 * OIDC_REDIRECT_ALLOWED_HOSTS. `own` is any URL of this server. Throws `bad_request` naming `next`. Reference 1.15.
 */
export function checkRedirectTarget(
  { redirectHosts, requiresHttps }: Pick<LoginSettings, "redirectHosts" | "requiresHttps">,
  own: URL,
  target: string,
): string {
  if (target.length > TARGET_MAX_LENGTH)
    throw invalidNext(`Ensure this field has no more than ${TARGET_MAX_LENGTH} characters.`);
  const url = AMBIGUOUS.test(target) ? null : URL.parse(target, own.href);
  if (url === null || url.username !== "" || url.password !== "")
    throw invalidNext("Must be a path of this server or a URL that begins with http:// or https://.");
  // A path that begins with two slashes, also after dot segments are resolved, names another host.
  if (target.startsWith("/") && url.origin === own.origin && !url.pathname.startsWith("//"))
    return `${url.pathname}${url.search}${url.hash}`;
  if (!/^https?:\/\//i.test(target))
    throw invalidNext("Must be a path of this server or a URL that begins with http:// or https://.");
  if (requiresHttps && url.protocol !== "https:") throw invalidNext("Must begin with https://.");
  if (url.host !== own.host && !redirectHosts.includes(url.host))
    throw invalidNext("The host is not allowed; add it to OIDC_REDIRECT_ALLOWED_HOSTS.");
  return url.href;
}

const invalidNext = (message: string): ApiError =>
  new ApiError("bad_request", `next: ${message}`, { body: { next: [message] } });
