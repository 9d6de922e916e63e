/** Longest `Cookie` header that is read, characters, and the most cookies in it. */
const HEADER_MAX_LENGTH = 8192;
const COOKIES_MAX = 100;

/** Browsers drop a longer cookie. RFC 6265, 6.1. */
const COOKIE_MAX_LENGTH = 4096;

/** RFC 6265, 4.1.1. */
const NAME = /^[!#$%&'*+.^_`|~\w-]+$/;
const VALUE = /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*$/;
const PATH = /^\/[\x20-\x3a\x3c-\x7e]*$/;

/** The cookies of a request by name; of several with the same name, the first. None for a header that is too long. */
export function parseCookies(header: string | undefined): ReadonlyMap<string, string> {
  const cookies = new Map<string, string>();
  if (header === undefined || header.length > HEADER_MAX_LENGTH) return cookies;
  for (const pair of header.split(";", COOKIES_MAX)) {
    const separator = pair.indexOf("=");
    const name = pair.slice(0, Math.max(0, separator)).trim();
    const text = pair.slice(separator + 1).trim();
    const value = /^"(.*)"$/.exec(text)?.[1] ?? text;
    if (NAME.test(name) && VALUE.test(value) && !cookies.has(name)) cookies.set(name, value);
  }
  return cookies;
}

export interface CookieOptions {
  /** Default `/`. */
  readonly path?: string;
  /** Ends with the browser's session if undefined; 0 deletes the cookie. */
  readonly maxAgeSeconds?: number;
  /** Default `Lax`. */
  readonly sameSite?: "Strict" | "Lax" | "None";
  /** Sent over HTTPS only. Default true. */
  readonly isSecure?: boolean;
  /** Hidden from scripts. Default true. */
  readonly isHttpOnly?: boolean;
}

/** The value of a `Set-Cookie` header. Throws RangeError for a name, value or path that a cookie cannot have. */
export function serializeCookie(name: string, value: string, options: CookieOptions = {}): string {
  const { path = "/", maxAgeSeconds, sameSite = "Lax", isSecure = true, isHttpOnly = true } = options;
  if (!NAME.test(name)) throw new RangeError("A cookie's name must be a token of RFC 9110");
  if (!VALUE.test(value)) throw new RangeError("A cookie's value must not contain separators: encode it");
  if (!PATH.test(path)) throw new RangeError("A cookie's path must begin with a slash");
  if (maxAgeSeconds !== undefined && !Number.isSafeInteger(maxAgeSeconds))
    throw new RangeError("A cookie's age must be a whole number of seconds");
  const attributes = [
    `${name}=${value}`,
    `Path=${path}`,
    ...(maxAgeSeconds === undefined ? [] : [`Max-Age=${maxAgeSeconds}`]),
    `SameSite=${sameSite}`,
    ...(isSecure ? ["Secure"] : []),
    ...(isHttpOnly ? ["HttpOnly"] : []),
  ];
  const cookie = attributes.join("; ");
  if (cookie.length > COOKIE_MAX_LENGTH)
    throw new RangeError(`A cookie must have at most ${COOKIE_MAX_LENGTH} characters`);
  return cookie;
}
