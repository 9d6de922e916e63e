import { hash } from "node:crypto";
import { CSRF_COOKIE } from "./csrf.ts";
import type { RequestInfo } from "./route.ts";

/** Files of Swagger UI that the page loads. */
export const API_PAGE_FILES = ["swagger-ui-bundle.js", "swagger-ui.css"] as const;

/**
 * Starts Swagger UI. Its requests contain the CSRF token of the browser's session, if there is one. The policy allows
 * this inline script by its hash.
 */
const START = `SwaggerUIBundle({
  url: document.querySelector("link[rel=describedby]").href,
  dom_id: "#reference",
  deepLinking: true,
  filter: true,
  defaultModelsExpandDepth: 0,
  requestInterceptor: (request) => {
    const token = /(?:^|; )${CSRF_COOKIE}=([^;]+)/.exec(document.cookie)?.[1];
    if (token !== undefined) request.headers["X-CSRFToken"] = token;
    return request;
  },
});`;

/** The browser loads only the page's own files, executes only Swagger UI, and sends requests only to this server. */
export const API_PAGE_POLICY = [
  "default-src 'none'",
  `script-src 'self' 'sha256-${hash("sha256", START, "base64")}'`,
  "style-src 'self'",
  "img-src data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/**
 * Swagger UI with the OpenAPI document, for requests to `/docs` or `/docs/`. The links are relative: on AWS, URLs begin
 * with the stage of the API.
 */
export function apiPage({ path }: Pick<RequestInfo, "path">): string {
  const root = path.endsWith("/") ? "../" : "";
  const [script, style] = API_PAGE_FILES.map((file) => `${root}docs/${file}`);
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>Weft API</title>
<link rel="describedby" type="application/json" href="${root}openapi.json">
<link rel="stylesheet" href="${style}">
</head><body>
<main id="reference"><noscript>This page needs JavaScript. The API as a document: <a href="${root}openapi.json">openapi.json</a>.</noscript></main>
<script src="${script}"></script>
<script>${START}</script>
</body></html>
`;
}
