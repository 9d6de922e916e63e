/** All whole numbers below `Max`. */
type Below<Max extends number, Numbers extends number[] = []> = Numbers["length"] extends Max
  ? Numbers[number]
  : Below<Max, [...Numbers, Numbers["length"]]>;

/** Statuses of final responses, 200 to 599. */
export type StatusCode = Exclude<Below<600>, Below<200>>;
export type RedirectStatus = 302 | 303 | 307 | 308;

/** Longest URL that a redirect leads to, characters. */
const LOCATION_MAX_LENGTH = 8192;

export interface HttpResponseOptions {
  /** The route's own if undefined. */
  readonly status?: StatusCode;
  /** The body is text of this type, not JSON. */
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** `Set-Cookie` headers, one each; `serializeCookie` makes them. */
  readonly cookies?: readonly string[];
}

/** A response that differs from the route's own in its status, its headers or the type of its body. */
export class HttpResponse {
  readonly body: unknown;
  readonly status: StatusCode | undefined;
  readonly contentType: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies: readonly string[];
  constructor(body: unknown, { status, contentType, headers = {}, cookies = [] }: HttpResponseOptions) {
    this.body = body;
    this.status = status;
    this.contentType = contentType;
    this.headers = headers;
    this.cookies = cookies;
  }
}

/** Whether a response with this status has no body. RFC 9110, 6.4.1. */
export const isBodiless = (status: number): boolean => status === 204 || status === 205 || status === 304;

const BASE = "http://origin.invalid";

/**
 * Redirects to a path of this server, or to any address given as a URL. Throws RangeError for text that a browser would
 * not read as a path (such as `//example.org` or `/\example.org`), so that input from a request cannot lead elsewhere.
 */
export function redirect(
  status: RedirectStatus,
  location: string | URL,
  options: Pick<HttpResponseOptions, "cookies" | "headers"> = {},
): HttpResponse {
  const headers = { ...options.headers, location: locationHeader(location) };
  return new HttpResponse("", { ...options, status, headers, contentType: "text/plain; charset=utf-8" });
}

/**
 * Redirects (302) to a URL, or to a path of this server, that a setting or a check has allowed. The target does not learn
 * the URL that led to it, which may contain secrets.
 */
export const redirectTo = (
  location: string | URL,
  options: Pick<HttpResponseOptions, "cookies"> = {},
): HttpResponse =>
  redirect(302, typeof location === "string" && !location.startsWith("/") ? new URL(location) : location, {
    ...options,
    headers: { "referrer-policy": "no-referrer" },
  });

function locationHeader(location: string | URL): string {
  const url = typeof location === "string" ? URL.parse(location, BASE) : location;
  const isValid =
    typeof location === "string"
      ? location.startsWith("/") && url?.origin === BASE
      : url?.protocol === "http:" || url?.protocol === "https:";
  if (url === null || !isValid)
    throw new RangeError("A redirect requires a path of this server or an HTTP URL");
  const text = typeof location === "string" ? `${url.pathname}${url.search}${url.hash}` : url.href;
  if (text.length > LOCATION_MAX_LENGTH) throw new RangeError("The URL of a redirect is too long");
  return text;
}
