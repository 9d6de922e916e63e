import { randomBytes } from "node:crypto";

const NONCE_BYTES = 16;
/** In the built page, where the nonce of a response belongs. */
const NONCE_PLACEHOLDER = "%NONCE%";

/**
 * Scripts and styles come from this server; styles that packages insert have the nonce. The editor sets style
 * attributes. Nothing is requested from another host, except images of documents.
 */
const contentSecurityPolicy = (nonce: string, connect: readonly string[]): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "media-src 'self'",
    "font-src 'self'",
    ["connect-src 'self'", ...connect].join(" "),
    "worker-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; ");

/** The blob with the built page, where CloudFront serves its files. */
export const WEB_PAGE_BLOB = "web/page";

/**
 * The page of the web interface, with a nonce of its own, and its headers except the content type. `connect` are further
 * origins that it may connect to.
 */
export function webPage(
  built: string,
  connect: readonly string[] = [],
): { html: string; headers: Record<string, string> } {
  const nonce = randomBytes(NONCE_BYTES).toString("base64");
  return {
    html: built.replaceAll(NONCE_PLACEHOLDER, nonce),
    headers: {
      "cache-control": "no-store",
      "content-security-policy": contentSecurityPolicy(nonce, connect),
      "cross-origin-opener-policy": "same-origin",
      "referrer-policy": "same-origin",
      vary: "accept",
      "x-content-type-options": "nosniff",
    },
  };
}
